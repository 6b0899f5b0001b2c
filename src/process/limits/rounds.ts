/** Looks at something; true where it should be looked at again soon. */
type Look = () => boolean | Promise<boolean>

/**
 * One clock for everything that is watched: it goes round all looks, then rests at least as long as it is told, and longer where looking was dear, so that watching
 * many trees never takes more than a fixed part of our time. Keeps no process alive.
 */
export function makeRounds(rest: { readonly usual: number; readonly soon: number; readonly timesCost: number }): (look: Look) => () => void {
  const looks = new Set<Look>()
  let timer: NodeJS.Timeout | undefined
  const wait = (milliseconds: number): void => {
    timer = setTimeout(() => void go(), milliseconds).unref()
  }
  const go = async (): Promise<void> => {
    const began = performance.now()
    let isUrgent = false
    for (const look of looks) {
      const answer = look()
      if (typeof answer === 'boolean' ? answer : await answer) isUrgent = true
    }
    if (looks.size === 0) timer = undefined
    else wait(Math.max(isUrgent ? rest.soon : rest.usual, (performance.now() - began) * rest.timesCost))
  }
  return (look) => {
    looks.add(look)
    if (timer === undefined) wait(rest.soon)
    return () => void looks.delete(look)
  }
}
