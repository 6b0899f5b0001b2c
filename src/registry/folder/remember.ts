import type { CacheRecord } from '../cache/line.ts'
import { hashFile, look, rememberable, sameStamp } from '../cache/stamp.ts'
import type { Candidate } from './candidate.ts'
import type { Judgement } from './judge.ts'
import { readOutline } from './outline.ts'
import type { Outline } from './outline.ts'

/** A candidate and what is known of it. */
export type Known = {
  readonly candidate: Candidate
  readonly outline: Outline
  readonly record: CacheRecord
}

/** What is still true of a remembered record, as far as the file system tells it: all of it, nothing, or only its hash can say. */
export function recall(
  candidate: Candidate,
  through: string,
  record: CacheRecord | undefined,
  now: number,
): Known | Unsure | undefined {
  const outline = record && readOutline(record.outline)
  if (
    !outline ||
    (outline.until !== undefined && outline.until < now) ||
    (outline.through ?? '') !== through
  )
    return undefined
  const known = { candidate, outline, record }
  if (sameStamp(record.stamp, candidate.seen.stamp)) return known
  return record.stamp.size === candidate.seen.stamp.size && record.hash !== ''
    ? { unsure: known }
    : undefined
}

/** A file that was touched; it may be the same. */
export type Unsure = { readonly unsure: Known }

/** Reads a file that was touched: what was remembered, if it is the same. */
export async function recognise(
  { unsure: { candidate, outline, record } }: Unsure,
  now: number,
): Promise<Known | undefined> {
  const hash = await hashFile(candidate.path, candidate.seen.stamp.size)
  return hash === record.hash
    ? { candidate, outline, record: { ...record, stamp: rememberable(candidate.seen, now) } }
    : undefined
}

/** Makes a record of what was found out now. */
export async function remember(
  candidate: Candidate,
  through: string,
  judgement: Judgement,
  now: number,
): Promise<Known> {
  const outline: Outline = through === '' ? judgement.outline : { ...judgement.outline, through }
  const hash = await hashFile(candidate.path, candidate.seen.stamp.size)
  // A file that changed while it was asked has the hash of what was not asked.
  const after = look(candidate.path)
  const isSame = after !== undefined && sameStamp(after.stamp, candidate.seen.stamp)
  const stamp = rememberable(candidate.seen, now)
  return {
    candidate,
    outline,
    record: {
      path: candidate.key,
      stamp: isSame ? stamp : { ...stamp, mtime: 0 },
      hash: isSame ? hash : '',
      outline,
      body: judgement.body,
    },
  }
}
