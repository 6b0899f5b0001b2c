import { expect, test } from 'vitest'
import { MAX_RECORD_BYTES } from '../../../src/workflow/embedded/journal-records.ts'
import type { JournalRecord } from '../../../src/workflow/embedded/journal-records.ts'
import { appendEnd, findRecordedOutcome } from '../../../src/workflow/run-record.ts'

test('an output that is too long for the journal is a failure on record, which nobody tries again for ever [9.workflow-over]', () => {
  const lines: string[] = []
  const kept = appendEnd(
    { appendLine: (line) => lines.push(line) },
    'r-0123456789',
    { ok: true, value: 'x'.repeat(MAX_RECORD_BYTES) },
    Date.now,
  )
  expect(kept).toMatchObject({
    ok: false,
    error: { code: 'OUTPUT_LIMIT', hint: expect.stringContaining('file') },
  })
  expect(
    findRecordedOutcome(
      lines.map((line) => JSON.parse(line) as JournalRecord),
      'r-0123456789',
    ),
  ).toEqual(kept)
})
