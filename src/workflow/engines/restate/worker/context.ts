import { Cancellation } from '../../engine-type.ts'
import type { Begun, DurableContext, Settled, StepError } from '../../engine-type.ts'
import type { RestateContext, RestatePromise, RestateSdk } from '../sdk-type.ts'
import { CANCEL } from '../wire.ts'
import { launch } from './launch.ts'
import type { Launched } from './launch.ts'
import { Noticeboard } from './noticeboard.ts'

type Own = Begun & { launched?: Launched; error?: StepError; isToldToEnd?: boolean }
type Ended = { readonly own: Own; readonly settled: Settled }

/** What Restate does for one execution. Every wait is one race of recorded promises: anything else would take another way when it is played again. */
export function durableContext(sdk: RestateSdk, context: RestateContext): DurableContext {
  const board = new Noticeboard(context)
  const wish = context.promise<string>(CANCEL).get()
  let isCancelled = false

  // A cancellation by the server's own interface breaks whatever is awaited, once for each time that somebody asks.
  let serverSaysCancel = false
  const calmly = async <Value>(wanted: RestatePromise<Value>): Promise<Value> => {
    for (;;) {
      try {
        return await wanted.map(pass)
      } catch (error) {
        if (!(error instanceof sdk.CancelledError)) throw error
        serverSaysCancel = true
      }
    }
  }

  const cancelled = (reason: string): never => {
    isCancelled = true
    throw new Cancellation(reason)
  }

  const race = async (owns: readonly Own[]): Promise<Ended> => {
    for (;;) {
      if (serverSaysCancel && !isCancelled) cancelled('cancelled at the Restate server')
      const ends: RestatePromise<Ended | string>[] = owns.map((own) =>
        own.launched!.settled.map((settled) => ({ own, settled: settled! })),
      )
      try {
        const ended = await sdk.RestatePromise.race(
          isCancelled ? ends : [...ends, wish.map((reason) => reason ?? '')],
        )
        if (typeof ended !== 'string') return ended
        cancelled(ended)
      } catch (error) {
        if (!(error instanceof sdk.CancelledError)) throw error
        serverSaysCancel = true
      }
    }
  }

  return {
    id: context.key,
    begin: (operation) => {
      const own: Own = { operation, abort: (error) => void (own.error ??= error) }
      return own
    },
    async first(begun) {
      const owns = begun as readonly Own[]
      for (const own of owns) {
        if (own.launched || own.error) continue
        own.launched = await launch(own.operation, { sdk, context, calmly })
        board.begin(own.operation)
      }
      // What waits in the engine alone ends at the word; a tool ends when its worker has ended it.
      const ended = owns.find(({ error, launched }) => error && !launched?.end)
      if (ended) return { begun: ended, settled: settle(ended, { ok: false, error: ended.error! }) }
      for (const own of owns) {
        if (!own.error || own.isToldToEnd) continue
        own.isToldToEnd = true
        context.cancel(await calmly(own.launched!.end!))
      }
      const { own, settled } = await race(owns)
      return { begun: own, settled: settle(own, settled) }
    },
  }

  function settle(own: Own, settled: Settled): Settled {
    const known =
      !settled.ok && own.error && settled.error.code === 'CANCELLED'
        ? {
            ok: false as const,
            error: {
              ...own.error,
              ...(settled.error.run_id !== undefined && { run_id: settled.error.run_id }),
            },
          }
        : settled
    board.end(own.operation, known)
    return known
  }
}

// A promise that was broken by a cancellation stays so; another one of the same event does not.
const pass = <Value>(value?: Value, failure?: Error): Value => {
  if (failure) throw failure
  return value as Value
}
