/** What stands where a secret stood. */
export const REDACTED = '[REDACTED]'

const MARK = Buffer.from(REDACTED)

/** The bytes up to `end` with a mark in place of each range; the first `covered` bytes are left out without one, because theirs stands already. */
export function cutOut(
  bytes: Buffer,
  ranges: readonly number[],
  end = bytes.length,
  covered = 0,
): Buffer {
  const kept: Buffer[] = []
  let from = Math.min(covered, end)
  for (let index = 0; index < ranges.length && ranges[index]! < end; index += 2) {
    const start = ranges[index]!
    // A range that begins in what was left out goes on with it.
    if (start >= from) kept.push(bytes.subarray(from, start), MARK)
    from = Math.max(from, ranges[index + 1]!)
  }
  if (from < end) kept.push(bytes.subarray(from, end))
  return Buffer.concat(kept)
}
