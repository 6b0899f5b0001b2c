import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { RunRow } from '../../../src/views/model/api.ts'
import type { RunsSource } from '../../../src/views/server/backend.ts'
import { makeFolder } from '../../support/run-program.ts'
import { idOf, makeRuns, writeRun } from '../support/make-runs.ts'
import { listen, look, query } from './support.ts'

const NOW = Date.parse('2026-06-30T12:00:00Z')
const COUNT = 10_000
// Thousands of files on a busy machine.
const LONG = 600_000

async function untilComplete(source: RunsSource): Promise<void> {
  await expect
    .poll(async () => (await source.list(query('limit=1'))).complete, {
      interval: 100,
      timeout: LONG,
    })
    .toBe(true)
}

async function walk(
  source: RunsSource,
  text: string,
  each: (rows: readonly RunRow[]) => void = () => undefined,
): Promise<RunRow[]> {
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
  beforeAll(() => void makeRuns(root, { count: COUNT, now: NOW }), LONG)

  test(
    'are usable before they are read, newest first, in little memory [10.index-many]',
    async () => {
      const source = look(root, { now: () => NOW })
      // Nothing may keep the others waiting while it reads: they get many turns.
      let turns = 0
      const timer = setInterval(() => {
        turns += 1
      }, 1)
      const first = await source.list(query())
      expect(first.rows).toHaveLength(100)
      expect(first.rows[0]!.run_id).toBe(idOf(1, 0))
      expect(first.complete).toBe(false)
      expect(first.total).toBeLessThan(COUNT)
      await untilComplete(source)
      clearInterval(timer)
      expect(turns).toBeGreaterThan(20)
      const all = await walk(source, 'limit=500')
      expect(all.map(({ run_id }) => run_id)).toEqual(
        Array.from({ length: COUNT }, (_, index) => idOf(1, index)),
      )
      expect(Math.max(...all.map((row) => JSON.stringify(row).length))).toBeLessThan(1500)
    },
    LONG,
  )

  test(
    'are counted and chosen by filters [10.index-many]',
    async () => {
      const source = look(root, { now: () => NOW })
      await untilComplete(source)
      const all = await walk(source, 'limit=500')
      const { counts, total, matching } = await source.list(query())
      expect([total, matching]).toEqual([COUNT, COUNT])
      for (const state of ['completed', 'failed', 'cancelled'] as const)
        expect(counts[state]).toBe(all.filter((row) => row.state === state).length)
      const failed = await source.list(
        query('state=failed&state=cancelled&tool=import&since=7d&limit=500'),
      )
      const wanted = all.filter(
        (row) =>
          ['failed', 'cancelled'].includes(row.state) &&
          row.tool === 'data.import' &&
          Date.parse(row.created) >= NOW - 7 * 86_400_000,
      )
      expect(failed.rows).toEqual(wanted)
      expect(wanted.length).toBeGreaterThan(10)
      expect(failed.counts.completed).toBe(
        all.filter(
          (row) =>
            row.state === 'completed' &&
            row.tool === 'data.import' &&
            Date.parse(row.created) >= NOW - 7 * 86_400_000,
        ).length,
      )
      expect((await source.list(query('has=artifact&caller=codex'))).matching).toBe(
        all.filter((row) => row.artifacts > 0 && row.caller === 'codex').length,
      )
      expect(
        (await source.list(query('error=E_NETWORK&text=econnrefused+db.'))).rows.map(
          ({ tool }) => tool,
        ),
      ).toContain('db.migrate')
      await expect.poll(async () => (await source.decisions()).past.length).toBe(100)
      const { past } = await source.decisions()
      expect(past).toEqual(
        [...past].sort((left, right) => (left.answered!.at < right.answered!.at ? 1 : -1)),
      )
      expect(past[0]).toMatchObject({
        answered: { by: 'answer file', value: 'left' },
        question: { id: 'q1' },
      })
    },
    LONG,
  )

  test(
    'make pages without gaps or doubles, whatever comes in between [10.index-pages]',
    async () => {
      const source = look(root, { now: () => NOW })
      await untilComplete(source)
      const heard = listen(source)
      let added = 0
      const rows = await walk(source, 'limit=200&state=failed', () => {
        added += 1
        writeRun(root, {
          id: idOf(9, added),
          tool: 'late.one',
          created: NOW + added * 1000,
          said: [
            { type: 'runner_start' },
            { type: 'runner_end', state: 'failed', rc: 1, code: 'E_X' },
          ],
        })
      })
      await heard.until(idOf(9, added), () => true)
      expect(new Set(rows.map(({ run_id }) => run_id)).size).toBe(rows.length)
      const old = rows.filter(({ tool }) => tool !== 'late.one')
      expect(old).toEqual(
        (await walk(source, 'limit=500&state=failed')).filter(({ tool }) => tool !== 'late.one'),
      )
      await expect(source.list(query('before=nonsense'))).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        field: 'before',
      })
      await expect(source.list(query('limit=many'))).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        field: 'limit',
      })
    },
    LONG,
  )
})

describe('rows that were kept from the last time', () => {
  const cacheOf = (root: string): string => join(root, '.cache', 'rows.jsonl')
  const readAll = async (
    root: string,
  ): Promise<{ readonly rows: RunRow[]; readonly past: number }> => {
    const source = look(root)
    await untilComplete(source)
    await expect.poll(() => existsSync(cacheOf(root))).toBe(true)
    const rows = await walk(source, 'limit=500')
    await expect.poll(async () => (await source.decisions()).past.length).toBeGreaterThan(10)
    const { past } = await source.decisions()
    await source.close()
    return { rows, past: past.length }
  }

  test('are the same as those that are read, and count only while nothing has changed [10.index-cache]', async () => {
    const root = join(makeFolder(), '.runs')
    const ids = makeRuns(root, { count: 400 })
    const before = await readAll(root)
    // What nobody reads again cannot be told apart from what is true.
    const marked = readFileSync(cacheOf(root), 'utf8').replaceAll('"tool":"', '"tool":"kept.')
    writeFileSync(cacheOf(root), marked)
    appendFileSync(join(root, ids[0]!, 'events.jsonl'), '\n')
    writeFileSync(join(root, ids[1]!, 'lock'), '')
    const after = await readAll(root)
    expect(after.past).toBe(before.past)
    const kept = after.rows
      .filter(({ tool }) => tool.startsWith('kept.'))
      .map(({ run_id }) => run_id)
    expect(kept.sort()).toEqual(ids.slice(2).sort())
    expect(after.rows.map((row) => ({ ...row, tool: row.tool.replace('kept.', '') }))).toEqual(
      before.rows,
    )
  })

  test(
    'are nothing where they are damaged, or of somebody else [10.index-cache]',
    async () => {
      const root = join(makeFolder(), '.runs')
      makeRuns(root, { count: 300 })
      const { rows } = await readAll(root)
      const text = readFileSync(cacheOf(root), 'utf8').replaceAll('"tool":"', '"tool":"kept.')
      const lines = text.split('\n')
      const nothing = [
        '',
        'x',
        '\0'.repeat(1000),
        text.replace('"v":1', '"v":0'),
        [lines[0], ...lines.slice(1).map((line) => line.slice(0, -20))].join('\n'),
        text.replaceAll('"state":"', '"state":"un'),
        text.replaceAll(/"created":"[^"]*"/g, '"created":"now"'),
        `${lines[0]}\n${'[]\n{}\nnull\n{"row":{}}\n'.repeat(50)}`,
      ]
      for (const damaged of nothing) {
        writeFileSync(cacheOf(root), damaged)
        expect((await readAll(root)).rows).toEqual(rows)
      }
      rmSync(join(root, '.cache'), { recursive: true })
      writeFileSync(join(root, '.cache'), 'a file')
      const source = look(root)
      await untilComplete(source)
      expect(await walk(source, 'limit=500')).toEqual(rows)
    },
    LONG,
  )
})
