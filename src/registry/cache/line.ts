import { isObject } from '../../contract/json.ts'
import type { Stamp } from './stamp.ts'

/** What is remembered of a file. The outline lists it; the body, kept as text until somebody needs it, has everything else. */
export type CacheRecord = {
  /** Relative to the folder. */
  readonly path: string
  readonly stamp: Stamp
  readonly hash: string
  readonly outline: { readonly [key: string]: unknown }
  readonly body: string
}

/** One line of the cache file, without its end. JSON never holds a bare tab, so that one parts outline and body. */
export function writeLine({ path, stamp, hash, outline, body }: CacheRecord): string {
  return `${JSON.stringify([path, stamp.size, stamp.mtime, stamp.ino, hash, outline])}\t${body}`
}

/** What a line says; undefined for a line that no `writeLine` wrote. The body is not looked at. */
export function readLine(line: string): CacheRecord | undefined {
  const tab = line.indexOf('\t')
  if (tab === -1) return undefined
  const head: unknown = parse(line.slice(0, tab))
  if (!Array.isArray(head) || head.length !== 6) return undefined
  const [path, size, mtime, ino, hash, outline] = head as readonly unknown[]
  if (
    typeof path !== 'string' ||
    typeof size !== 'number' ||
    typeof mtime !== 'number' ||
    typeof ino !== 'number' ||
    typeof hash !== 'string' ||
    !isObject(outline)
  )
    return undefined
  return { path, stamp: { size, mtime, ino }, hash, outline, body: line.slice(tab + 1) }
}

/** JSON or undefined. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
