import type { ChildEnd } from '../../process/child-type.ts'
import { quoteAllForShell } from '../../contract/quote-for-shell.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { isObject } from '../../contract/json.ts'
import { lastLine, understandComplaint } from './complaints.ts'
import type { ReadDocument } from './read-document.ts'
import { DEEPEST_ANSWER } from './read-document.ts'
import type { Question } from './questions.ts'
import { WANTED } from './questions.ts'
import type { Candidate, Refusal, RefusalReason } from './verdict.ts'

/** A refusal, and whether other questions can still change it. */
export type Setback = Refusal & { readonly hopeless: boolean }

/** The most telling reason first. */
const WEIGHT: readonly RefusalReason[] = [
  'cancelled',
  'no-sandbox',
  'not-started',
  'crashed',
  'needs-permission',
  'wants-input',
  'too-much-output',
  'slow',
  'two-documents',
  'not-json',
  'refused',
  'no-answer',
]
const ANSWER = `Let it print {"success": true, "_simple": true} when its only argument is '{"__test__": true}', or describe it in a YAML file beside it`
const PURE = 'Print one JSON document to stdout and everything else to stderr'

/** Why an answer does not make its candidate a tool. */
export function explainAnswer(
  candidate: Candidate,
  { args, patience }: Question,
  end: ChildEnd,
  read: ReadDocument,
): Setback {
  const asked = args.join(' ')
  const stderr = end.stderr.toString()
  if (end.reason === 'cancelled')
    return refuse('cancelled', 'The probing was cancelled', 'toolable rescan', true)
  if (end.reason === 'not-started') return explainStart(end.problem)
  if (end.reason === 'timeout')
    return refuse(
      'slow',
      `It gave no answer to ${asked} within ${patience / 1000} s; ${WANTED} ms are wanted`,
      'Look at the arguments first and answer, before heavy imports, loops or servers; or describe it in a YAML file beside it',
    )
  if (end.reason !== 'exited')
    return refuse('too-much-output', `It answered ${asked} with more than 4 MiB`, PURE)
  if (end.status !== 0) {
    const complaint = understandComplaint(stderr, candidate)
    if (complaint)
      return refuse(complaint.reason, complaint.message, complaint.fix, complaint.hopeless)
    if (end.signal !== null || (end.status ?? 0) > 128)
      return refuse(
        'crashed',
        `It was ended by ${end.signal ?? `signal ${end.status! - 128}`} when it was asked ${asked}`,
        `Run it by hand: ${quoteAllForShell([...candidate.command, ...args])}`,
      )
  }
  if (read.kind === 'two-documents')
    return refuse(
      'two-documents',
      `It answered ${asked} with several JSON documents; one is wanted`,
      PURE,
    )
  if (read.kind === 'too-deep')
    return refuse(
      'not-json',
      `It answered ${asked} with JSON that is nested more than ${DEEPEST_ANSWER} levels deep`,
      ANSWER,
    )
  if (read.kind === 'not-json')
    return refuse(
      'not-json',
      `It answered ${asked} with ${read.besides ? 'text besides JSON' : 'text that is not JSON'}: ${read.line}`,
      read.besides ? PURE : ANSWER,
    )
  if (read.kind === 'document' && end.status !== 0)
    return refuse(
      'refused',
      `It refused ${asked} with exit status ${end.status}: ${errorText(read.value)}`,
      ANSWER,
    )
  if (read.kind === 'document')
    return refuse(
      'not-json',
      `It answered ${asked} with JSON that describes nothing: ${JSON.stringify(read.value).slice(0, 100)}`,
      ANSWER,
    )
  return refuse(
    'no-answer',
    `It does not answer the questions that tools answer${end.status === 0 ? '' : ` (exit status ${end.status}${stderr.trim() === '' ? '' : `: ${lastLine(stderr)}`})`}`,
    ANSWER,
  )
}

/** The setback that tells most; of equal ones the first. */
export function weightiest(setbacks: readonly Setback[]): Refusal {
  const { hopeless: _hopeless, ...refusal } = [...setbacks].sort(
    (left, right) => WEIGHT.indexOf(left.reason) - WEIGHT.indexOf(right.reason),
  )[0]!
  return refusal
}

/** The refusal of a candidate whose answers nobody was prepared for. */
export function explainSurprise(thrown: unknown): Refusal {
  return weightiest([
    refuse(
      'not-json',
      `It cannot be asked what it is: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
      ANSWER,
    ),
  ])
}

/** The refusal of everything on a machine without sandbox. */
export function explainNoSandbox(problem: ToolError): Setback {
  return refuse(
    'no-sandbox',
    `It was not asked what it is, because that means to run it. ${problem.message}`,
    `${problem.suggestion?.fix ?? 'Install bubblewrap'}; or, where you trust these files: --probe-unsandboxed`,
    true,
  )
}

function explainStart(problem: Error | undefined): Setback {
  const isToolError = ToolError.is(problem)
  if (isToolError && problem.code === 'SANDBOX_UNAVAILABLE') return explainNoSandbox(problem)
  const reason = isToolError && problem.code === 'PERMISSION' ? 'needs-permission' : 'not-started'
  return refuse(
    reason,
    problem?.message ?? 'It cannot be started',
    (isToolError ? problem.suggestion?.fix : undefined) ?? 'Run it by hand to see why',
    true,
  )
}

function refuse(reason: RefusalReason, message: string, fix: string, hopeless = false): Setback {
  return { kind: 'not-a-tool', reason, message, fix, hopeless }
}

function errorText(value: unknown): string {
  const error = isObject(value) && Object.hasOwn(value, 'error') ? value['error'] : value
  return (typeof error === 'string' ? error : JSON.stringify(error)).slice(0, 200)
}
