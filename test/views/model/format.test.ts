import { describe, expect, test } from 'vitest'
import { matchesRunFilter, parseRunFilter } from '../../../src/views/model/run-filter.ts'
import { formatBytes } from '../../../src/views/model/format-bytes.ts'
import { formatAgo, formatDuration } from '../../../src/views/model/format.ts'
import type { RunRow } from '../../../src/views/model/api.ts'

describe('times and sizes for people', () => {
  test('stay short at every size', () => {
    expect(
      [0.123, 1, 12.44, 59.94, 59.96, 125, 3599.6, 7260, 90_000, NaN, -1].map(formatDuration),
    ).toEqual([
      '0.12 s',
      '1 s',
      '12.4 s',
      '59.9 s',
      '1 m 00 s',
      '2 m 05 s',
      '1 h 00 m',
      '2 h 01 m',
      '1 d 01 h',
      '',
      '',
    ])
    expect([0, 1, 999, 1000, 9940, 123_456, 999_600, 5e9, 7e15].map(formatBytes)).toEqual([
      '0 bytes',
      '1 byte',
      '999 bytes',
      '1 kB',
      '9.9 kB',
      '123 kB',
      '1 MB',
      '5 GB',
      '7000 TB',
    ])
    expect(
      [0, 5, 65, 7300, 200_000, -90].map((seconds) => formatAgo(1e12 - seconds * 1000, 1e12)),
    ).toEqual(['now', '5 s ago', '1 m ago', '2 h ago', '2 d ago', 'in 1 m'])
  })
})

describe('a filter in an address', () => {
  const now = Date.parse('2026-02-01T12:00:00Z')
  const row: RunRow = {
    run_id: 'r-0123456789',
    tool: 'tools.convert',
    state: 'failed',
    attempt: 1,
    created: '2026-02-01T10:00:00Z',
    caller: 'person',
    code: 'E_INPUT_NOT_FOUND',
    message: 'data.json not found',
    questions: 0,
    artifacts: 2,
  }
  const fits = (query: string): boolean =>
    matchesRunFilter(parseRunFilter(new URLSearchParams(query), now), row)

  test('finds what it means, and nothing else [10.run-filters]', () => {
    for (const yes of [
      '',
      'state=failed',
      'state=completed,failed',
      'state=completed&state=failed',
      'tool=convert',
      'tool=tools.convert',
      'caller=person',
      'error=E_INPUT_NOT_FOUND',
      'error=INPUT_NOT_FOUND',
      'has=artifact',
      'text=Not+DATA',
      'since=3h',
      'since=2026-02-01T09:00:00Z&until=1h',
      'state=nonsense',
      'since=soon',
    ])
      expect([yes, fits(yes)]).toEqual([yes, true])
    for (const no of [
      'state=completed',
      'tool=vert',
      'workflow=convert',
      'caller=mcp',
      'error=E_OTHER',
      'has=question',
      'text=nowhere',
      'since=1h',
      'until=3h',
      'parent=r-9',
    ])
      expect([no, fits(no)]).toEqual([no, false])
    expect(
      matchesRunFilter(parseRunFilter(new URLSearchParams('state=completed'), now), row, {
        anyState: true,
      }),
    ).toBe(true)
  })
})
