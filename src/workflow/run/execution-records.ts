import { isObject } from '../../contract/json.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import type { Workflow } from '../definition/workflow-type.ts'
import type { Journal } from '../engines/embedded/journal/open-journal.ts'
import { endOf } from '../engines/embedded/journal/end-record.ts'
import type { EndRecord, JournalRecord } from '../engines/embedded/journal/record.ts'
import type { Settled } from '../engines/engine-type.ts'

/** Writes down that an execution begins, and what it is. */
export function beginExecution(
  journal: Pick<Journal, 'append'>,
  { run_id, workflow, input }: RunRequest,
  now: () => number,
): void {
  const { definition, hash } = workflow!
  journal.append({ t: 'define', h: hash, d: definition as unknown as Workflow })
  journal.append({
    t: 'begin',
    w: run_id,
    h: hash,
    n: String(definition['name']),
    i: input ?? {},
    at: new Date(now()).toISOString(),
  })
}

/** Writes down how an execution ended; gives what was written, which is a failure where the output is too long to be kept. */
export function endExecution(
  journal: Pick<Journal, 'appendLine'>,
  id: string,
  settled: Settled,
  now: () => number,
): Settled {
  const { end, line } = endOf(id, settled, new Date(now()).toISOString())
  journal.appendLine(line)
  return settledOf(end)
}

/** How an execution ended, where that is on record. */
export function findEnd(records: readonly JournalRecord[], id: string): Settled | undefined {
  const end = records.find((record): record is EndRecord => record.t === 'end' && record.w === id)
  return end && settledOf(end)
}

function settledOf(end: EndRecord): Settled {
  return end.s === 'completed'
    ? { ok: true, value: end.v }
    : {
        ok: false,
        error: isObject(end.e)
          ? end.e
          : {
              code: end.s === 'cancelled' ? 'CANCELLED' : 'INTERNAL',
              message: `it is ${end.s}`,
              retryable: false,
            },
      }
}
