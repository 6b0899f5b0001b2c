const left = new Set<Promise<unknown>>()

/** Keeps in mind what goes on after its call was ended from outside: most of it tidies up. */
export function leaveBehind(work: Promise<unknown>): void {
  const forget = (): void => void left.delete(work)
  left.add(work)
  work.then(forget, forget)
}

/** Waits until all of it has come to its end, but no longer than so many milliseconds. */
export async function untilTidy(longest: number): Promise<void> {
  if (left.size === 0) return
  const enough = new Promise((resolve) => setTimeout(resolve, longest, 'enough'))
  // What has ended may have left something behind itself, such as the end of a generator.
  while (
    left.size > 0 &&
    (await Promise.race([enough, Promise.allSettled([...left])])) !== 'enough'
  )
    await Promise.resolve()
}
