import { statSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

/** The endings of files that hold code. */
export const CODE = /\.[cm]?[jt]s$/i

/** Imports a file, and imports it anew when it changed. Throws whatever its code throws, and ENOENT. */
export async function importFile(file: string): Promise<{ readonly [name: string]: unknown }> {
  const { mtimeMs, size } = statSync(file)
  // A module is kept for ever under its address, so a changed file needs another one.
  return (await import(`${pathToFileURL(file).href}?v=${mtimeMs}-${size}`)) as { readonly [name: string]: unknown }
}

/** Why a file could not be imported, and what to do about it. */
export function explainImport(thrown: unknown, file: string): { readonly reason: 'missing' | 'typescript' | 'crashed'; readonly message: string; readonly fix: string } {
  const error = thrown as Partial<NodeJS.ErrnoException>
  if (error.code === 'ENOENT') return { reason: 'missing', message: `there is no file ${file}`, fix: 'Check the path' }
  if (error.code === 'ERR_UNKNOWN_FILE_EXTENSION') return { reason: 'typescript', message: `this version of node does not read TypeScript: ${file}`, fix: 'Build it to JavaScript, or run node with a loader: node --import tsx' }
  return { reason: 'crashed', message: `importing ${file} failed: ${String(error.message ?? thrown).split('\n', 1)[0]}`, fix: `Try: node ${file}` }
}
