import { ToolError } from '../../contract/tool-error.ts'
import { hashFile, look, sameStamp } from '../cache/stamp.ts'
import { realBelow } from './inside.ts'
import type { Known } from './remember.ts'

/** Makes sure, before a call, that a file is still the one that was looked at, in the folder that it was found in, and that the program which a manifest names has not become a link out of it. Throws PRECONDITION otherwise. */
export async function requireUnchanged(folder: string, { candidate: { key, path, seen }, record }: Known, program = path): Promise<void> {
  const now = look(path)
  if (!now || realBelow(folder, path) === undefined) throw stale(`${key} is not there any more`)
  if (program !== path && realBelow(folder, program) === undefined) throw stale(`the program of ${key} is not in its folder any more`)
  if (sameStamp(now.stamp, seen.stamp)) return
  if (now.stamp.size === seen.stamp.size && record.hash !== '' && (await hashFile(path, now.stamp.size)) === record.hash) return
  throw stale(`${key} has changed since it was looked at`)
}

function stale(message: string): ToolError {
  return new ToolError('PRECONDITION', message, { suggestion: { action: 'retry_with_modified_input', fix: 'Look again, then call again: await registry.rescan(), or toolable rescan' } })
}
