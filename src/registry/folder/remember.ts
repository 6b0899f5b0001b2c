import type { CacheRecord } from '../cache/line.ts'
import { hashFile, rememberable, sameStamp } from '../cache/stamp.ts'
import type { Candidate } from './candidate.ts'
import type { Judgement } from './judge.ts'
import { readOutline } from './outline.ts'
import type { Outline } from './outline.ts'

/** A candidate and what is known of it. */
export type Known = { readonly candidate: Candidate; readonly outline: Outline; readonly record: CacheRecord }

/** What is still true of a remembered record: all of it, or nothing. The file is read only where its size is the same but its stamp is not. */
export async function recall(candidate: Candidate, through: string, record: CacheRecord | undefined, now: number): Promise<Known | undefined> {
  const outline = record && readOutline(record.outline)
  if (!outline || (outline.until !== undefined && outline.until < now) || (outline.through ?? '') !== through) return undefined
  if (sameStamp(record.stamp, candidate.seen.stamp)) return { candidate, outline, record }
  if (record.stamp.size !== candidate.seen.stamp.size || record.hash === '' || (await hashFile(candidate.path, candidate.seen.stamp.size)) !== record.hash) return undefined
  return { candidate, outline, record: { ...record, stamp: rememberable(candidate.seen, now) } }
}

/** Makes a record of what was found out now. */
export async function remember(candidate: Candidate, through: string, judgement: Judgement, now: number): Promise<Known> {
  const outline: Outline = through === '' ? judgement.outline : { ...judgement.outline, through }
  const hash = await hashFile(candidate.path, candidate.seen.stamp.size)
  return { candidate, outline, record: { path: candidate.key, stamp: rememberable(candidate.seen, now), hash, outline, body: judgement.body } }
}
