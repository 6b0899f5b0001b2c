import { ToolError } from '../../contract/tool-error.ts'
import { hashFile, look, sameStamp } from '../cache/stamp.ts'
import type { LookedAt } from '../cache/stamp.ts'
import { realBelow } from './inside.ts'
import type { Known } from './remember.ts'

const LOOK_MS = 20

// When the way to a file was followed last. The links on it hardly ever change, and following them takes longer than looking at the file.
const followed = new WeakMap<Known, number>()

/** Makes sure, before a call, that a file is still the one that was looked at, in the folder that it was found in, and that the program which a manifest names has not become a link out of it. Throws PRECONDITION otherwise. */
export async function requireUnchanged(
  folder: string,
  known: Known,
  program?: string,
): Promise<LookedAt> {
  const {
    candidate: { key, path, seen },
    record,
  } = known
  const now = look(path)
  const isSame = now !== undefined && sameStamp(now.stamp, seen.stamp)
  const isFollowed = isSame && wasFollowed(known)
  if (!now || (!isFollowed && realBelow(folder, path) === undefined))
    throw stale(`${key} is not there any more`)
  if (program !== undefined && program !== path && realBelow(folder, program) === undefined)
    throw stale(`the program of ${key} is not in its folder any more`)
  if (
    isSame ||
    (now.stamp.size === seen.stamp.size &&
      record.hash !== '' &&
      (await hashFile(path, now.stamp.size)) === record.hash)
  )
    return { path, stamp: now.stamp }
  throw stale(`${key} has changed since it was looked at`)
}

function wasFollowed(known: Known): boolean {
  const now = performance.now()
  if (now - (followed.get(known) ?? -Infinity) < LOOK_MS) return true
  followed.set(known, now)
  return false
}

function stale(message: string): ToolError {
  return new ToolError('PRECONDITION', message, {
    suggestion: {
      action: 'retry_with_modified_input',
      fix: 'Look again, then call again: await registry.rescan(), or toolable rescan',
    },
  })
}
