import type { Readable } from 'node:stream'
import type { Held } from './hold-back.ts'

/** How long a pipe may stay silent after its child is over before whoever holds it is looked for, and how long all of that may take. */
const SILENCE = 30
const LONGEST_DRAIN = 1000
/** How many times as long we wait for a listener of our own that has not taken what came. */
const PATIENCE = 30

/** Reads what is still in the pipes. A pipe that stays open has an owner that outlived the child; it is ended, and then the pipe is given up. While a listener of ours holds a pipe, its silence means nothing. */
export async function drain(
  pipes: readonly Readable[],
  listeners: readonly (Held | undefined)[],
  endHolders: () => void,
): Promise<void> {
  const open = pipes.filter((pipe) => !pipe.closed && !pipe.readableEnded)
  const isHeld = (): boolean => listeners.some((listener) => listener?.isHeld())
  // A pipe that waits for its listener can end before the listener is done with the last chunk.
  const closed = Promise.all(
    open.map(
      (pipe) => new Promise<void>((resolve) => pipe.once('close', resolve).once('end', resolve)),
    ),
  ).then(() => Promise.all(listeners.map((listener) => listener?.whenFree() ?? Promise.resolve())))
  let over = false
  void closed.then(() => {
    over = true
  })
  await Promise.race([closed, silence(pipes, isHeld, 0)])
  if (over) return
  endHolders()
  // Nobody writes any more, so that what is left is little and it is worth waiting for.
  await Promise.race([closed, silence(pipes, isHeld, PATIENCE)])
  for (const pipe of pipes) pipe.destroy()
}

/** Resolves when no pipe said anything for a while and none is held, or everything takes too long. */
function silence(
  pipes: readonly Readable[],
  isHeld: () => boolean,
  patience: number,
): Promise<void> {
  return new Promise((resolve) => {
    let heard = false
    const hear = (): void => {
      heard = true
    }
    const finish = (): void => {
      clearTimeout(longest)
      clearTimeout(quiet)
      for (const pipe of pipes) pipe.off('data', hear)
      resolve()
    }
    const decide = (): void => {
      if (!heard && !isHeld()) return finish()
      heard = false
      quiet.refresh()
    }
    let rounds = 0
    const longest = setTimeout(() => {
      rounds += 1
      if (rounds > patience || !isHeld()) finish()
      else longest.refresh()
    }, LONGEST_DRAIN)
    // Where we were busy ourselves, the pipes have had no turn yet; after one turn of theirs silence is silence.
    const quiet = setTimeout(() => setImmediate(decide), SILENCE)
    for (const pipe of pipes) pipe.on('data', hear)
  })
}
