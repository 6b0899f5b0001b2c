import type { Settled } from '../../engine-type.ts'
import { stepErrorOf } from '../../step-error.ts'
import { writeRecord } from './record.ts'
import type { EndRecord } from './record.ts'

/** The record with which an execution ends, and its line. An output that is too long to be kept is a failure, which is: what failed without a record would be tried again for ever. */
export function endOf(
  w: string,
  settled: Settled,
  at: string,
): { readonly end: EndRecord; readonly line: string } {
  try {
    const end: EndRecord = settled.ok
      ? { t: 'end', w, s: 'completed', at, v: settled.value }
      : {
          t: 'end',
          w,
          s: settled.error.code === 'CANCELLED' ? 'cancelled' : 'failed',
          at,
          e: settled.error,
        }
    return { end, line: writeRecord(end) }
  } catch (error) {
    const end: EndRecord = { t: 'end', w, s: 'failed', at, e: stepErrorOf(error) }
    return { end, line: writeRecord(end) }
  }
}
