import { statSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

/** The address by which a file is imported. A module is kept for ever under its address, so a changed file gets another one. Throws ENOENT. */
export function moduleAddress(file: string): string {
  const { mtimeMs, size } = statSync(file)
  return `${pathToFileURL(file).href}?v=${mtimeMs}-${size}`
}
