/** Looks at something, and says in how many milliseconds it should be looked at again; undefined is as usual. */
type Look = () => number | undefined | Promise<number | undefined>

/** How many times the cost of a round is rested after it: usually, and where something is about to happen. */
const USUAL_REST = 6
const URGENT_REST = 0.5

/**
 * One clock for everything that is watched: it goes round all looks, then rests as long as they allow, and longer where looking was dear, so that watching many trees
 * never takes more than a part of our time. Keeps no process alive.
 */
export function makeRounds(usual: number, shortest: number): (look: Look) => () => void {
  const looks = new Set<Look>()
  let timer: NodeJS.Timeout | undefined
  const wait = (milliseconds: number): void => {
    timer = setTimeout(() => void go(), milliseconds).unref()
  }
  const go = async (): Promise<void> => {
    const began = performance.now()
    let next = usual
    for (const look of looks) {
      const wanted = look()
      next = Math.min(next, (typeof wanted === 'object' ? await wanted : wanted) ?? usual)
    }
    if (looks.size === 0) timer = undefined
    else
      wait(
        Math.max(
          next,
          shortest,
          (performance.now() - began) * (next < usual ? URGENT_REST : USUAL_REST),
        ),
      )
  }
  return (look) => {
    looks.add(look)
    if (timer === undefined) wait(shortest)
    return () => void looks.delete(look)
  }
}
