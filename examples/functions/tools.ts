// region functions
import { readdirSync, statSync } from 'node:fs'

export type Found = { path: string; size: number; modified: Date }

/**
 * Find files whose name ends in something.
 *
 * @param ending - What the name ends in
 * @param options.root - Where to look
 * @example
 * toolable ./tools.ts find-files .md --root docs
 * @readonly
 */
export function findFiles(
  ending: string,
  { root = '.', since }: { root?: string; since?: Date } = {},
): Found[] {
  return readdirSync(root)
    .filter((path) => path.endsWith(ending))
    .map((path) => ({
      path,
      size: statSync(`${root}/${path}`).size,
      modified: statSync(`${root}/${path}`).mtime,
    }))
    .filter(({ modified }) => since === undefined || modified > since)
}

/** Add numbers. */
export const sum = (...numbers: number[]): number =>
  numbers.reduce((left, right) => left + right, 0)
// endregion
