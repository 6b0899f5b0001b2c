/** Makes work of which only one piece is done at a time: each waits for the one before, however that ended. */
export function oneAtATime<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let before: Promise<unknown> = Promise.resolve()
  return () => {
    const mine = before.then(work, work)
    before = mine.catch(() => undefined)
    return mine
  }
}
