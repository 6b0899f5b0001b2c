import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ToolError } from '../../contract/tool-error.ts'

/** From the built program, from the built files, and from the sources. */
const PLACES = ['./dashboard/', '../dashboard/', '../../../dist/dashboard/']

/** The folder of the built page, as the package brings it. */
export function findPageFolder(): string {
  const folder = PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url))).find(
    (path) => existsSync(`${path}index.html`),
  )
  if (folder !== undefined) return folder
  throw new ToolError('CONFIG', 'the package misses the page of the dashboard', {
    suggestion: {
      fix: 'Install toolable again; in its repository, build it',
      example: 'npm run build',
    },
  })
}
