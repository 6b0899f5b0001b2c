import { expect, test } from 'vitest'
import { LONGEST_RECORD } from '../../../src/workflow/engines/embedded/journal/record.ts'
import type { JournalRecord } from '../../../src/workflow/engines/embedded/journal/record.ts'
import { endExecution, findEnd } from '../../../src/workflow/run/execution-records.ts'

test('an output that is too long for the journal is a failure on record, which nobody tries again for ever [9.workflow-over]', () => {
  const lines: string[] = []
  const kept = endExecution(
    { appendLine: (line) => lines.push(line) },
    'r-0123456789',
    { ok: true, value: 'x'.repeat(LONGEST_RECORD) },
    Date.now,
  )
  expect(kept).toMatchObject({
    ok: false,
    error: { code: 'OUTPUT_LIMIT', hint: expect.stringContaining('file') },
  })
  expect(
    findEnd(
      lines.map((line) => JSON.parse(line) as JournalRecord),
      'r-0123456789',
    ),
  ).toEqual(kept)
})
