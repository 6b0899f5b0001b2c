/**
 * Checks before a call that a tool's file is the one that was found, still inside its folder.
 */

import { ToolError } from '../../protocol/tool-error.ts'
import { hashFile, isSameStamp, statFile } from '../cache.ts'
import type { CheckedFile } from '../cache.ts'
import { resolveBelow } from './candidates.ts'
import type { FolderContext } from './outline.ts'
import type { KnownCandidate } from './scan.ts'

/**
 * Throws, and tells it, where the file of a tool, or the program that its manifest names, is not
 * the one that was found.
 */
export async function checkToolFile(
  { folder, onStale }: FolderContext,
  known: KnownCandidate,
  program?: string,
): Promise<CheckedFile> {
  try {
    return await requireUnchanged(folder, known, program)
  } catch (error) {
    onStale()
    throw error
  }
}

const LINK_CHECK_MS = 20

// When the way to a file was followed last. The links on it hardly ever change, and following them
// takes longer than looking at the file.
const lastLinkChecks = new WeakMap<KnownCandidate, number>()

/**
 * Makes sure, before a call, that a file is still the one that was looked at, in the folder that it
 * was found in, and that the program which a manifest names has not become a link out of it. Throws
 * PRECONDITION otherwise.
 */
async function requireUnchanged(
  folder: string,
  known: KnownCandidate,
  program?: string,
): Promise<CheckedFile> {
  const {
    candidate: { key, path, seen },
    record,
  } = known
  const now = statFile(path)
  const isSame = now !== undefined && isSameStamp(now.stamp, seen.stamp)
  const isFollowed = isSame && wereLinksChecked(known)
  if (!now || (!isFollowed && resolveBelow(folder, path) === undefined))
    throw toStaleError(`${key} is not there any more`)
  if (program !== undefined && program !== path && resolveBelow(folder, program) === undefined)
    throw toStaleError(`the program of ${key} is not in its folder any more`)
  if (
    isSame ||
    (now.stamp.size === seen.stamp.size &&
      record.hash !== '' &&
      (await hashFile(path, now.stamp.size)) === record.hash)
  )
    return { path, stamp: now.stamp }
  throw toStaleError(`${key} has changed since it was looked at`)
}

function wereLinksChecked(known: KnownCandidate): boolean {
  const now = performance.now()
  if (now - (lastLinkChecks.get(known) ?? -Infinity) < LINK_CHECK_MS) return true
  lastLinkChecks.set(known, now)
  return false
}

function toStaleError(message: string): ToolError {
  return new ToolError('PRECONDITION', message, {
    suggestion: {
      action: 'retry_with_modified_input',
      fix: 'Look again, then call again: await registry.rescan(), or toolable rescan',
    },
  })
}
