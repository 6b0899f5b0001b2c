import { exitCodeOf, factsOf, findRow, protocolName } from '../../../contract/errors.ts'
import { ToolError } from '../../../contract/tool-error.ts'
import type { CallForm } from '../../../registry/child/child-call.ts'
import type { ToolLine } from '../../output/judge-line.ts'
import type { SubjectEnd } from '../subject.ts'
import type { Intervention } from './intervention.ts'

/** What there is to conclude from when a subject is over. */
export type Happened = {
  readonly end: SubjectEnd
  readonly intervention: Intervention | undefined
  /** The line with which the tool ended its run. */
  readonly last: ToolLine | undefined
  readonly exitCodes: { readonly [meaning: string]: number } | undefined
  readonly form: CallForm | undefined
}

/** How an attempt is over: its last lines, its state, and the exit status that the runner passes on. */
export type Ending = {
  readonly state: 'completed' | 'failed' | 'cancelled'
  readonly rc: number
  /** The code of a failure, by its name in the protocol. */
  readonly code?: string
  /** Whether another attempt may be made without being asked for. */
  readonly again: boolean
  /** What is recorded before `runner_end`. */
  readonly lines: readonly ToolLine[]
}

/** The ending that an error of the runner makes. `name` is its name in the protocol where that is not the first one of its code. */
export function failWith(error: Error, name?: string): Ending {
  const known = (
    ToolError.is(error) ? error : new ToolError('INTERNAL', error.message, { cause: error })
  ).toObject()
  const { code, message: msg, retryable, suggestion } = known
  const written = name ?? protocolName(code, retryable)
  const line: ToolLine = {
    type: 'runner_error',
    code: written,
    msg,
    ...(suggestion && { hint: suggestion.example ?? suggestion.fix }),
    retryable,
  }
  return {
    state: 'failed',
    rc: exitCodeOf(known),
    code: written,
    again: mayTryAgain(code, retryable),
    lines: [line],
  }
}

/** The status that a tool gave itself; 0 also where a signal ended it. */
export function ownStatus({ child: { status } }: SubjectEnd): number {
  return status ?? 0
}

/** Only failures of the class `retryable` are tried again by themselves, and none that is said to stay; for a code of the tool's own its word counts. */
export function mayTryAgain(code: string, said: unknown): boolean {
  if (said === false) return false
  const known = findRow(code)
  return known
    ? known.row.class === 'retryable'
    : typeof said === 'boolean'
      ? said
      : factsOf(code).retryable
}
