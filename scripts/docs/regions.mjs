// Samples of the documentation are parts of files that run.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = new URL('../../', import.meta.url)

/**
 * The text between the comments `region name` and `endregion` of `path#name`, in any language with
 * `//` or `#`; throws when there is none.
 */
export function readRegion(reference) {
  const [path, name] = reference.split('#')
  const text = readFileSync(fileURLToPath(new URL(path, root)), 'utf8')
  const found = new RegExp(`^(?://|#) region ${name}\\n([^]*?)^(?://|#) endregion$`, 'm').exec(text)
  if (!found) throw new Error(`${path} has no region '${name}'`)
  return found[1]
}
