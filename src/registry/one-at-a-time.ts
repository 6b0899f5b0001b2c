/** Work that is never done twice at the same time. */
export type InTurn = {
  /** Does it once more: after what is under way, and once for all who ask meanwhile; `fresh` where one of them wants that. */
  again(fresh: boolean): Promise<void>
  /** When nothing is under way any more. */
  rest(): Promise<void>
}

/** Does work in turn, so that what was begun later also ends later, and a thousand wishes at once are one. `work` never throws. */
export function oneAtATime(work: (fresh: boolean) => Promise<void>): InTurn {
  let last = Promise.resolve()
  let next: { fresh: boolean; readonly done: Promise<void> } | undefined
  return {
    again(fresh) {
      if (next) {
        next.fresh ||= fresh
        return next.done
      }
      const begin = (): Promise<void> => {
        next = undefined
        return work(turn.fresh)
      }
      const turn = { fresh, done: last.then(begin) }
      next = turn
      return (last = turn.done)
    },
    rest: () => last,
  }
}
