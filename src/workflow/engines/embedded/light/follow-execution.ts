import { parseObject } from '../../../../contract/json.ts'
import { followLines } from '../../../../runner/log/follow-lines.ts'
import { isRecord } from '../journal/record.ts'
import type { BeginRecord, ExecutionRecord } from '../journal/record.ts'
import { segmentPaths } from './light-paths.ts'
import type { LightPaths } from './light-paths.ts'
import { ownerOf } from './segment-lock.ts'

/** The records of one execution, its begin first, as many at a time as there are. With `follow` also those that come, until its last one, or until no living process has it. */
export async function* followExecution(
  paths: LightPaths,
  { w: id, j: segment }: { readonly w: string; readonly j: string },
  { follow, signal }: { readonly follow: boolean; readonly signal: AbortSignal },
): AsyncGenerator<(BeginRecord | ExecutionRecord)[]> {
  const files = segmentPaths(paths, segment)
  const ours = `"w":"${id}"`
  for await (const lines of followLines(files.journal, {
    follow,
    signal,
    isComplete: () => !ownerOf(files),
  })) {
    const records = lines.flatMap((line) => {
      const value = line.includes(ours) ? parseObject(line) : undefined
      return isRecord(value) && value.t !== 'define' && value.w === id ? [value] : []
    })
    if (records.length > 0) yield records
    if (records.some(({ t }) => t === 'end' || t === 'moved')) return
  }
}
