/** Does works of the same name one after the other, whatever became of those before. */
export function inTurn(): <Result>(name: string, work: () => Promise<Result>) => Promise<Result> {
  const last = new Map<string, Promise<unknown>>()
  return (name, work) => {
    const done = (last.get(name) ?? Promise.resolve()).then(work, work)
    const forget = (): void => {
      if (last.get(name) === done) last.delete(name)
    }
    last.set(name, done)
    done.then(forget, forget)
    return done
  }
}
