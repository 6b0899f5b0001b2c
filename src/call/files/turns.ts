/** Lets those who change the same thing wait for each other, in the order in which they came. */
export type Turns = { /** Gives what ends the turn. */ take(): Promise<() => void> }

/** Makes a queue. */
export function openTurns(): Turns {
  let last: Promise<void> = Promise.resolve()
  return {
    async take() {
      const before = last
      let done!: () => void
      last = new Promise((resolve) => { done = resolve })
      await before
      return done
    },
  }
}
