import { onAbort } from '../../../call/on-abort.ts'

/** Nothing came for a while. */
export const SILENT = Symbol('silent')

/** The pieces of several sources as they come, until all have ended or the signal says so; a source is asked for its next piece only when its last one was taken. Gives SILENT after so many milliseconds of nothing. */
export async function* merge<Piece>(
  sources: readonly AsyncIterable<Piece>[],
  silence: number,
  signal: AbortSignal,
): AsyncGenerator<Piece | typeof SILENT, void, void> {
  const iterators = sources.map((source) => source[Symbol.asyncIterator]())
  // One for each source at most.
  const arrived: Arrival<Piece>[] = []
  let wake: () => void = () => undefined
  const pull = (iterator: AsyncIterator<Piece>): void => {
    const arrive = (step: Arrival<Piece>['step']): void => {
      arrived.push({ iterator, step })
      wake()
    }
    iterator.next().then(
      (step) => arrive(() => step),
      (error: unknown) =>
        arrive(() => {
          throw error
        }),
    )
  }
  const forget = onAbort(signal, () => wake())
  try {
    iterators.forEach(pull)
    for (let open = iterators.length; open > 0 && !signal.aborted;) {
      const next = arrived.shift()
      if (!next) {
        if (
          !(await new Promise<boolean>((resolve) => {
            const timer = setTimeout(() => resolve(false), silence)
            wake = () => {
              clearTimeout(timer)
              resolve(true)
            }
          }))
        )
          yield SILENT
        continue
      }
      const step = next.step()
      if (step.done) {
        open -= 1
        continue
      }
      yield step.value
      pull(next.iterator)
    }
  } finally {
    forget()
    wake()
    for (const iterator of iterators)
      void Promise.resolve(iterator.return?.()).catch(() => undefined)
  }
}

type Arrival<Piece> = {
  readonly iterator: AsyncIterator<Piece>
  readonly step: () => IteratorResult<Piece, unknown>
}
