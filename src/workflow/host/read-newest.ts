import type { ListedRun } from '../../runner/folder/list-runs.ts'

const AT_ONCE = 32

/** Reads runs from the first on, several at the same time, until so many were of use; of the others nothing is read. */
export async function readNewest<Read>(
  runs: readonly ListedRun[],
  read: (run: ListedRun) => Promise<Read | undefined>,
  most: number,
): Promise<Read[]> {
  const found: Read[] = []
  for (let at = 0; at < runs.length && found.length < most; at += AT_ONCE) {
    const some = await Promise.all(runs.slice(at, at + AT_ONCE).map(read))
    for (const one of some) if (one !== undefined) found.push(one)
  }
  return found
}

/** For sorting: what was created last comes first. */
export function newestFirst(
  left: { readonly created: string },
  right: { readonly created: string },
): number {
  return left.created < right.created ? 1 : left.created > right.created ? -1 : 0
}
