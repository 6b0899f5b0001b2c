import { readError } from '../../../contract/dialects/read-error.ts'
import type { FailOptions } from '../../../contract/tool-error.ts'
import { ToolError } from '../../../contract/tool-error.ts'
import { isDeeperThan, isObject } from '../../../contract/json.ts'
import type { ErrorObject, FailureOutcome, Outcome } from '../../../contract/outcome.ts'
import type { ChildOutput } from './answer.ts'
import { blame, errorOnStderr } from './blame.ts'
import { meaningOf } from './exit-meaning.ts'

const LONGEST_TAIL = 4000
const LONGEST_OUTPUT = 16_000
const MOST_LEVELS = 200

/** True where the exit status says that all went well: 0, or what the manifest calls `ok`. */
export function isOk({ status, exitCodes }: ChildOutput): boolean {
  return (
    status !== null &&
    status === ((exitCodes && Object.hasOwn(exitCodes, 'ok') ? exitCodes['ok'] : undefined) ?? 0)
  )
}

/** The failure of a child that said so, ended badly, or gave no answer. What it said itself comes first: in its answer, on stderr as JSON, on stderr as text, on stdout as text. */
export function readExit(
  output: ChildOutput,
  value: unknown,
  envelope: Outcome | undefined,
): FailureOutcome {
  const said = envelope?.ok === false ? envelope.error : errorOnStderr(output)
  const error = said ?? explain(output, value)
  const details = { ...error.details, ...detailsOf(output, said ? undefined : value) }
  const { errors, summary } = envelope?.ok === false ? envelope : {}
  return {
    ok: false,
    status: 'error',
    error: {
      ...error,
      ...retryableBy(output, error, value),
      details: { ...details, ...(errors && { errors }), ...(summary && { summary }) },
    },
    ...(errors && { errors }),
    ...(summary && { summary }),
    meta: { tool: '', duration_ms: 0 },
  }
}

function explain(output: ChildOutput, value: unknown): ErrorObject {
  const { status, signal, stderr } = output
  if (isOk(output))
    return make('INTERNAL', 'the tool ended without an answer', {
      suggestion: {
        action: 'abort',
        fix: 'The author of the tool should print one JSON document, also when it fails',
      },
    })
  if (signal !== null) return killed(signal, stderr)
  const cause = blame(stderr)
  const words =
    cause?.message ??
    (typeof value === 'string' && value.trim() !== ''
      ? lastWords(value)
      : `the program ended with exit status ${status} and said nothing`)
  if (cause?.code !== undefined)
    return make(cause.code, words, {
      retryable: false,
      ...(cause.fix !== undefined && { suggestion: { action: 'abort', fix: cause.fix } }),
    })
  const meaning = meaningOf(output)
  if (meaning) return make(meaning.code, words, { retryable: meaning.retryable })
  if (status === 126) return make('PERMISSION', words)
  if (status === 127)
    return make('DEPENDENCY', words, {
      retryable: false,
      suggestion: { action: 'abort', fix: 'Install the program that is missing' },
    })
  return readError({ message: words }, { tool: '', ...(status !== null && { exitCode: status }) })
}

const FROM_OUTSIDE = new Set(['SIGKILL', 'SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT'])

function killed(signal: string, stderr: string): ErrorObject {
  const words = blame(stderr)?.message
  const message = `the program was ended by the signal ${signal}${words === undefined ? '' : `: ${words}`}`
  return FROM_OUTSIDE.has(signal) ? make('DEPENDENCY', message) : make('INTERNAL', message)
}

// The manifest knows what a status means for a second try, unless the tool itself has said it.
function retryableBy(
  output: ChildOutput,
  error: ErrorObject,
  value: unknown,
): { readonly retryable?: boolean } {
  const meaning = meaningOf(output)
  if (!meaning) return {}
  const own = isObject(value) ? (isObject(value['error']) ? value['error'] : value) : {}
  return Object.hasOwn(own, 'retryable') || Object.hasOwn(own, 'is_retryable')
    ? {}
    : { retryable: meaning.retryable || (error.retryable && !meaning.fatal) }
}

function detailsOf({ status, signal, stderr }: ChildOutput, value: unknown): object {
  const tail = stderr.trim().slice(-LONGEST_TAIL)
  return {
    ...(status !== null && { exit_status: status }),
    ...(signal !== null && { signal }),
    ...(tail !== '' && { stderr: tail }),
    ...(value !== undefined &&
      value !== '' && {
        stdout: typeof value === 'string' ? value.slice(-LONGEST_OUTPUT) : bounded(value),
      }),
  }
}

function bounded(value: unknown): unknown {
  if (isDeeperThan(MOST_LEVELS, value))
    return `[JSON that is nested more than ${MOST_LEVELS} levels deep]`
  const text = JSON.stringify(value)
  return text.length <= LONGEST_OUTPUT ? value : text.slice(0, LONGEST_OUTPUT)
}

function lastWords(text: string): string {
  const lines = text.trim().split('\n')
  return lines.length <= 3 ? lines.join('\n').slice(0, 1000) : lines.at(-1)!.trim().slice(0, 1000)
}

function make(code: string, message: string, options: FailOptions = {}): ErrorObject {
  return new ToolError(code, message, options).toObject()
}
