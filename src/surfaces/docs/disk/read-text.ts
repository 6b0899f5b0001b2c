import { readFile } from 'node:fs/promises'
import { ToolError } from '../../../contract/tool-error.ts'

/** The text of a file byte for byte, a byte order mark included; undefined where there is none. Throws CONFLICT for what is not UTF-8. */
export async function readText(file: string): Promise<string | undefined> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (!bytes) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new ToolError('CONFLICT', `${file} is not text in UTF-8, so it was left alone`, {
      details: { path: file },
    })
  }
}
