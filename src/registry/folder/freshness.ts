/**
 * Checks before a call that a tool's file is the one that was found, still inside its folder.
 */

import { ToolError } from '../../protocol/tool-error.ts'
import type { CheckedFile } from '../cache.ts'
import { hashFile, isSameStamp, statFile } from '../cache.ts'
import { resolveBelow } from './candidates.ts'
import type { FolderContext } from './outline.ts'
import type { KnownCandidate } from './scan.ts'

/**
 * Makes sure that the file of a tool is the one that was found, inside its folder, and that the
 * program of its manifest has not become a link out of it. Throws PRECONDITION otherwise, and
 * reports it to the folder.
 */
export async function checkToolFile(
  { folder, onStale }: FolderContext,
  known: KnownCandidate,
  program = known.candidate.path,
): Promise<CheckedFile> {
  try {
    return await requireUnchanged(folder, known, program)
  } catch (error) {
    onStale()
    throw error
  }
}

const LINK_CHECK_MS = 20

// When the links to a file were resolved last. They hardly ever change, and resolving them takes
// longer than looking at the file.
const lastLinkChecks = new WeakMap<KnownCandidate, number>()

async function requireUnchanged(
  folder: string,
  known: KnownCandidate,
  program: string,
): Promise<CheckedFile> {
  const { key, path, seen } = known.candidate
  const { hash } = known.record
  const now = statFile(path)
  const isSame = now !== undefined && isSameStamp(now.stamp, seen.stamp)
  const isBelow = (isSame && wereLinksChecked(known)) || resolveBelow(folder, path) !== undefined
  if (!now || !isBelow) throw toStaleError(`${key} is not there any more`)
  if (program !== path && resolveBelow(folder, program) === undefined)
    throw toStaleError(`the program of ${key} is not in its folder any more`)
  const checked = { path, stamp: now.stamp }
  if (isSame) return checked
  const { size } = now.stamp
  if (size === seen.stamp.size && hash !== '' && (await hashFile(path, size)) === hash)
    return checked
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
