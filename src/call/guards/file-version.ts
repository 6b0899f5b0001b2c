import type { GuardedCall } from '../../contract/guard.ts'
import { ToolError } from '../../contract/tool-error.ts'

/** What stands at a path in the files of a state, as a text that changes with it; undefined where there is nothing. A folder is what lies directly in it. */
export async function versionOfFile(
  path: string,
  { state: { filesystem } }: GuardedCall,
): Promise<string | undefined> {
  const entry = await filesystem.stat(path)
  if (!entry) return undefined
  const { createHash } = await import('node:crypto')
  const hash = createHash('sha256')
  if (entry.kind === 'file') {
    try {
      return hash.update(await filesystem.readBytes(path)).digest('base64url')
    } catch (error) {
      // Of files that are too large to be read at once the size has to do.
      if (ToolError.is(error) && error.code === 'OUTPUT_LIMIT') return `${entry.size} bytes`
      throw error
    }
  }
  for (
    let page = await filesystem.list(path);
    ;
    page = await filesystem.list(path, { offset: page.next })
  ) {
    for (const { path: name, kind, size } of page.items)
      hash.update(JSON.stringify([name, kind, size]))
    if (page.next === undefined) return hash.digest('base64url')
  }
}
