// Which files of src/ a file needs before it can run: its imports that load something, followed to
// the end.
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

const statement = /^(?:import|export)\s+(?!type\b)(?:[^'"]*?\sfrom\s+)?['"](\.[^'"]+)['"]/gm

/** The absolute paths of `file` and of everything it imports statically, types left out. */
export function reachableFrom(file, seen = new Set()) {
  const path = resolve(file)
  if (seen.has(path)) return seen
  seen.add(path)
  for (const [, target] of readFileSync(path, 'utf8').matchAll(statement))
    reachableFrom(resolve(dirname(path), target), seen)
  return seen
}
