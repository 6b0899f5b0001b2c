import type { JsonSchema } from '../../contract/json.ts'
import type { Operation, Settled, StepError } from '../engines/engine-type.ts'

/** What a flow wants from its scheduler; it is resumed when it has it. */
export type Wish =
  | { readonly kind: 'operation'; readonly operation: Operation }
  | {
      readonly kind: 'all'
      readonly flows: readonly Flow<unknown>[]
      readonly limit: number
      /** Stops the others when one fails. */ readonly stopEarly: boolean
      /** They clean up, and are not stopped from outside. */ readonly shielded?: boolean
    }
  | {
      readonly kind: 'within'
      readonly key: string
      readonly seconds: number
      readonly flow: Flow<unknown>
    }
  | { readonly kind: 'check'; readonly schema: JsonSchema; readonly value: unknown }

/** A part of a workflow on its way. It knows nothing of time: it says what it wants, and goes on when it is told. */
export type Flow<Result> = Generator<Wish, Result, unknown>

/** How a flow ended. */
export type Ended<Result = unknown> =
  { readonly ok: true; readonly value: Result } | { readonly ok: false; readonly thrown: unknown }

/** A step that failed, and with it what it belongs to. */
export class StepFailure extends Error {
  readonly error: StepError
  constructor(error: StepError) {
    super(error.message)
    this.name = 'StepFailure'
    this.error = error
  }
}

/** Thrown into a flow that has to end: it was cancelled, its time is over, or another one beside it failed. Only what cleans up runs after it. */
export class Stopped extends Error {
  readonly error: StepError
  constructor(error: StepError) {
    super(error.message)
    this.name = 'Stopped'
    this.error = error
  }
}

/** Does an operation; throws StepFailure where it fails. */
export function* act(operation: Operation): Flow<Settled & { readonly ok: true }> {
  const settled = (yield { kind: 'operation', operation }) as Settled
  if (settled.ok) return settled
  throw new StepFailure(settled.error)
}

/** Follows several flows, so many at a time. With `stopEarly`, what was never begun has no ending. */
export function* all<Result>(
  flows: readonly Flow<Result>[],
  { limit, stopEarly }: { readonly limit: number; readonly stopEarly: boolean },
): Flow<readonly (Ended<Result> | undefined)[]> {
  return (yield { kind: 'all', flows, limit, stopEarly }) as readonly (Ended<Result> | undefined)[]
}

/** Follows a flow for so many seconds at most; then it is stopped, with TIMEOUT. */
export function* within<Result>(key: string, seconds: number, flow: Flow<Result>): Flow<Result> {
  const ended = (yield { kind: 'within', key, seconds, flow }) as Ended<Result>
  if (ended.ok) return ended.value
  // Were this flow to stop as well, it would have been told so instead.
  throw ended.thrown instanceof Stopped ? new StepFailure(ended.thrown.error) : ended.thrown
}

/** Checks a value, and gives it with its defaults; throws StepFailure where it does not fit. */
export function* check(schema: JsonSchema, value: unknown): Flow<unknown> {
  const settled = (yield { kind: 'check', schema, value }) as Settled
  if (settled.ok) return settled.value
  throw new StepFailure(settled.error)
}

/** Follows a flow that cleans up: it is not stopped, whatever happens around it. */
export function* shield<Result>(flow: Flow<Result>): Flow<Result> {
  const [ended] = (yield {
    kind: 'all',
    flows: [flow],
    limit: 1,
    stopEarly: false,
    shielded: true,
  }) as readonly [Ended<Result>]
  if (ended.ok) return ended.value
  throw ended.thrown
}
