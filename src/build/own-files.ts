import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ToolError } from '../contract/tool-error.ts'

/** From the built program, from the built files, and from the sources. */
const PLACES = ['./', '../', '../../dist/']

/** The folder of this package's built files, which a program is bundled from. Throws CONFIG where it is missing. */
export function ownFolder(): string {
  const folder = PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url))).find(
    (path) => existsSync(`${path}built.js`),
  )
  if (folder !== undefined) return folder
  throw new ToolError('CONFIG', 'the package misses the files that programs are built from', {
    suggestion: {
      fix: 'Install toolable again; in its repository, build it',
      example: 'npm run build',
    },
  })
}
