import { readdirSync, rmdirSync, unlinkSync } from 'node:fs'

const SLASH = Buffer.from('/')

/** Removes a folder with all that is in it, also what has a name that is no UTF-8, which no text can name. */
export function removeBytes(folder: Buffer): void {
  for (const entry of readdirSync(folder, { withFileTypes: true, encoding: 'buffer' })) {
    const inside = Buffer.concat([folder, SLASH, entry.name])
    if (entry.isDirectory()) removeBytes(inside)
    else unlinkSync(inside)
  }
  rmdirSync(folder)
}
