import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { RunRow } from '../../../src/views/model/wire/run-row.ts'
import type { RunsSource } from '../../../src/views/server/backend.ts'
import { makeFolder } from '../../support/run-program.ts'
import { idOf, makeRuns, writeRun } from '../support/make-runs.ts'
import { listen, look, query } from './support.ts'

const NOW = Date.parse('2026-06-30T12:00:00Z')
const COUNT = 10_000

async function untilComplete(source: RunsSource): Promise<void> {
  await expect.poll(async () => (await source.list(query('limit=1'))).complete, { interval: 100 }).toBe(true)
}

async function walk(source: RunsSource, text: string, each: (rows: readonly RunRow[]) => void = () => undefined): Promise<RunRow[]> {
  const rows: RunRow[] = []
  for (let next: string | undefined = ''; next !== undefined;) {
    const page = await source.list(query(`${text}${next === '' ? '' : `&before=${next}`}`))
    rows.push(...page.rows)
    each(page.rows)
    next = page.next
  }
  return rows
}

describe('ten thousand runs', () => {
  const root = join(makeFolder(), '.runs')
  beforeAll(() => void makeRuns(root, { count: COUNT, now: NOW }))

  test('are usable before they are read, newest first, in little memory [10.index-many]', async () => {
    const source = look(root, { now: () => NOW })
    // Nothing may keep the others waiting while it reads.
    let longest = 0
    let last = performance.now()
    const timer = setInterval(() => {
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
    }, 1)
    const first = await source.list(query())
    expect(first.rows).toHaveLength(100)
    expect(first.rows[0]!.run_id).toBe(idOf(1, 0))
    expect(first.complete).toBe(false)
    expect(first.total).toBeLessThan(COUNT)
    await untilComplete(source)
    clearInterval(timer)
    expect(longest).toBeLessThan(2000)
    const all = await walk(source, 'limit=500')
    expect(all.map(({ run_id }) => run_id)).toEqual(Array.from({ length: COUNT }, (_, index) => idOf(1, index)))
    expect(Math.max(...all.map((row) => JSON.stringify(row).length))).toBeLessThan(1500)
  })

  test('are counted and chosen by filters [10.index-many]', async () => {
    const source = look(root, { now: () => NOW })
    await untilComplete(source)
    const all = await walk(source, 'limit=500')
    const { counts, total, matching } = await source.list(query())
    expect([total, matching]).toEqual([COUNT, COUNT])
    for (const state of ['completed', 'failed', 'cancelled'] as const) expect(counts[state]).toBe(all.filter((row) => row.state === state).length)
    const failed = await source.list(query('state=failed&state=cancelled&tool=import&since=7d&limit=500'))
    const wanted = all.filter((row) => ['failed', 'cancelled'].includes(row.state) && row.tool === 'data.import' && Date.parse(row.created) >= NOW - 7 * 86_400_000)
    expect(failed.rows).toEqual(wanted)
    expect(wanted.length).toBeGreaterThan(10)
    expect(failed.counts.completed).toBe(all.filter((row) => row.state === 'completed' && row.tool === 'data.import' && Date.parse(row.created) >= NOW - 7 * 86_400_000).length)
    expect((await source.list(query('has=artifact&caller=codex'))).matching).toBe(all.filter((row) => row.artifacts > 0 && row.caller === 'codex').length)
    expect((await source.list(query('error=E_NETWORK&text=econnrefused+db.'))).rows.map(({ tool }) => tool)).toContain('db.migrate')
    const { past } = await source.decisions()
    expect(past).toHaveLength(100)
    expect(past).toEqual([...past].sort((left, right) => (left.answered!.at < right.answered!.at ? 1 : -1)))
    expect(past[0]).toMatchObject({ answered: { by: 'answer file', value: 'left' }, question: { id: 'q1' } })
  })

  test('make pages without gaps or doubles, whatever comes in between [10.index-pages]', async () => {
    const source = look(root, { now: () => NOW })
    await untilComplete(source)
    const heard = listen(source)
    let added = 0
    const rows = await walk(source, 'limit=200&state=failed', () => {
      added += 1
      writeRun(root, { id: idOf(9, added), tool: 'late.one', created: NOW + added * 1000, said: [{ type: 'runner_start' }, { type: 'runner_end', state: 'failed', rc: 1, code: 'E_X' }] })
    })
    await heard.until(idOf(9, added), () => true)
    expect(new Set(rows.map(({ run_id }) => run_id)).size).toBe(rows.length)
    const old = rows.filter(({ tool }) => tool !== 'late.one')
    expect(old).toEqual((await walk(source, 'limit=500&state=failed')).filter(({ tool }) => tool !== 'late.one'))
    await expect(source.list(query('before=nonsense'))).rejects.toMatchObject({ code: 'INVALID_INPUT', field: 'before' })
    await expect(source.list(query('limit=many'))).rejects.toMatchObject({ code: 'INVALID_INPUT', field: 'limit' })
  })
})
