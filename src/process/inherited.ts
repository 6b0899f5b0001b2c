import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { isLinux } from './host.ts'

const CLOSED_ON_EXEC = 0o2000000

let known: readonly number[] | undefined

/**
 * Descriptors above 2 that would reach every program that we start: those that our own process was given by whoever started it. Node closes them in its children
 * only up to the first gap in their numbers.
 */
export function listInherited(): readonly number[] {
  known ??= isLinux
    ? readdirSync('/proc/self/fd')
        .map(Number)
        .filter(
          (descriptor) => descriptor > 2 && descriptor < mostDescriptors() && staysOpen(descriptor),
        )
    : []
  return known
}

// Nothing can be put in the place of a descriptor beyond the limit of the process.
function mostDescriptors(): number {
  try {
    return Number(
      /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1] ?? Infinity,
    )
  } catch {
    return Infinity
  }
}

/** Puts an empty file in the place of each of those, in the list of what a child gets; gives a function to call when the child has started. */
export function coverInherited(stdio: unknown[]): () => void {
  const leaking = listInherited().filter((descriptor) => descriptor >= stdio.length)
  if (leaking.length === 0) return () => {}
  const empty = openSync('/dev/null', 'r')
  for (const descriptor of leaking) stdio[descriptor] = empty
  for (let at = 0; at < stdio.length; at += 1) stdio[at] ??= 'ignore'
  return () => closeSync(empty)
}

function staysOpen(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(
      readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'),
    )?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) === 0
  } catch {
    return false
  }
}
