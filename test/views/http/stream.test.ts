import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toolable } from '../../commands/support.ts'
import { startDashboard } from '../../dashboard/support/dashboard.ts'
import type { Dashboard } from '../../dashboard/support/dashboard.ts'
import { ask } from './support/ask.ts'
import { openStream } from './support/event-stream.ts'
import type { Message, Reader } from './support/event-stream.ts'
import { makeProject } from './support/project.ts'

const folder = makeProject()
let dashboard: Dashboard
let run: string
beforeAll(async () => {
  dashboard = await startDashboard(folder)
  run = await startCounting()
})

// A detached run does not go with the test.
afterAll(async () => {
  expect((await toolable(['cancel', '--wait', run], { cwd: folder })).status).toBe(0)
})

async function startCounting(): Promise<string> {
  const { json } = await toolable(['run', '--detach', 'counts'], { cwd: folder })
  return (json as { readonly result: { readonly run_id: string } }).result.run_id
}

function open(path: string, last?: string): Promise<Reader> {
  return openStream(dashboard.port, path, {
    authorization: `Bearer ${dashboard.token}`,
    ...(last !== undefined && { 'last-event-id': last }),
  })
}

const seqsOf = (messages: readonly Message[]): number[] =>
  messages
    .filter(({ event }) => event === 'run')
    .flatMap(({ data }) =>
      (data as { readonly events: readonly { readonly seq: number }[] }).events.map(
        ({ seq }) => seq,
      ),
    )
const upTo = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)

describe('the stream [10.ui-stream]', () => {
  test('greets, tells the counts at once, and what changes as it changes', async () => {
    const reader = await open('/api/stream')
    await reader.until((messages) => messages.filter(({ event }) => event === 'rows').length > 3)
    const [hello, first, ...more] = reader.messages
    expect(reader.beginning().startsWith('retry: 500\n')).toBe(true)
    expect(hello).toMatchObject({
      event: 'hello',
      data: {
        epoch: expect.stringMatching(/^[\w-]+$/),
        version: expect.any(Number),
        now: expect.stringMatching(/^\d{4}-/),
      },
    })
    expect(hello!.data).not.toHaveProperty('reset')
    expect(first).toMatchObject({
      event: 'rows',
      data: { rows: [], counts: { completed: 0 }, total: 1, open: 0 },
    })
    expect(more.at(-1)).toMatchObject({
      event: 'rows',
      data: { rows: [{ run_id: run, state: 'running' }] },
    })
    for (const { id } of reader.messages)
      expect(id).toMatch(new RegExp(`^${(hello!.data as { epoch: string }).epoch}\\.\\d+\\.0$`))
    reader.leave()
  })

  test('gives the events of a run after the one that is known, each once', async () => {
    const reader = await open(`/api/stream?run=${run}&after=5`)
    await reader.until((messages) => seqsOf(messages).length > 20)
    const seqs = seqsOf(reader.messages)
    expect(seqs).toEqual(upTo(6, seqs.at(-1)!))
    expect(
      reader.messages
        .filter(({ event }) => event === 'run')
        .at(-1)!
        .id.split('.')[2],
    ).toBe(String(seqs.at(-1)))
    reader.leave()
  })

  test.each(['header', 'address'])(
    'goes on by the id of the last message, in the %s',
    async (where) => {
      const first = await open(`/api/stream?run=${run}&after=0`)
      await first.until(
        (messages) =>
          seqsOf(messages).length > 10 &&
          messages.some(
            ({ event, data }) => event === 'rows' && (data as { rows: unknown[] }).rows.length > 0,
          ),
      )
      first.leave()
      const { id } = first.messages.at(-1)!
      const [epoch, version] = id.split('.')
      const second =
        where === 'header'
          ? await open(`/api/stream?run=${run}&after=0`, id)
          : await open(
              `/api/stream?run=${run}&after=${id.split('.')[2]}&last=${epoch}.${version}.0`,
            )
      await second.until((messages) => seqsOf(messages).length > 10)
      expect(second.messages[0]).toEqual({
        id,
        event: 'hello',
        data: { epoch, version: Number(version), now: expect.any(String) },
      })
      const seqs = [...seqsOf(first.messages), ...seqsOf(second.messages)]
      expect(seqs).toEqual(upTo(1, seqs.at(-1)!))
      second.leave()
    },
  )

  test('goes on where it was after the server was killed and started again: nothing is lost, nothing comes twice', async () => {
    const mine = await startDashboard(folder)
    const openMine = (last?: string): Promise<Reader> =>
      openStream(mine.port, `/api/stream?run=${run}&after=0`, {
        authorization: `Bearer ${mine.token}`,
        ...(last !== undefined && { 'last-event-id': last }),
      })
    const first = await openMine()
    await first.until((messages) => seqsOf(messages).length > 30)
    await mine.kill()
    expect(await first.ended).toBe('cut')
    const token = mine.token
    await mine.again()
    expect(mine.token).toBe(token)
    const { id } = first.messages.at(-1)!
    const second = await openMine(id)
    await second.until((messages) => seqsOf(messages).length > 30)
    expect(second.messages[0]).toMatchObject({ event: 'hello', data: { reset: true } })
    expect((second.messages[0]!.data as { epoch: string }).epoch).not.toBe(id.split('.')[0])
    const seqs = [...seqsOf(first.messages), ...seqsOf(second.messages)]
    expect(seqs).toEqual(upTo(1, seqs.at(-1)!))
    second.leave()
    expect(await mine.stop()).toBe(0)
  })

  test('tells that a run cannot be followed, and goes on with the others', async () => {
    const reader = await open('/api/stream?run=r-0000000000')
    await reader.until(
      (messages) =>
        messages.some(({ event }) => event === 'problem') &&
        messages.filter(({ event }) => event === 'rows').length > 2,
    )
    expect(reader.messages.find(({ event }) => event === 'problem')).toMatchObject({
      data: { run_id: 'r-0000000000', error: { code: 'NOT_FOUND' } },
    })
    reader.leave()
  })

  test.each(['after=-1', 'after=x', 'after=1e3', 'run=../../etc', 'run='])(
    'refuses ?%s',
    async (query) => {
      expect(
        (
          await ask(dashboard.port, 'GET', `/api/stream?${query}`, {
            authorization: `Bearer ${dashboard.token}`,
          })
        ).status,
      ).toBe(400)
    },
  )

  test.each([
    ['garbage', 'garbage'],
    ['points', '..'],
    ['letters', 'a.b.c'],
    ['a long one', `${'x'.repeat(5000)}.1.1`],
  ])('takes %s for no id', async (_what, id) => {
    const reader = await open(`/api/stream?run=${run}&after=3`, id)
    await reader.until((messages) => seqsOf(messages).length > 0)
    expect(seqsOf(reader.messages)[0]).toBe(4)
    expect(reader.messages[0]!.data).not.toHaveProperty('reset')
    reader.leave()
  })
})

describe('a stopped server', () => {
  test('ends its streams at once, and itself with 0 [10.ui-command]', async () => {
    const mine = await startDashboard(folder)
    const readers = await Promise.all(
      Array.from({ length: 5 }, () =>
        openStream(mine.port, `/api/stream?run=${run}&after=0`, {
          authorization: `Bearer ${mine.token}`,
        }),
      ),
    )
    await Promise.all(
      readers.map((reader) => reader.until((messages) => seqsOf(messages).length > 3)),
    )
    await openStream(
      mine.port,
      `/api/stream?run=${run}&after=0`,
      { authorization: `Bearer ${mine.token}` },
      { idle: true },
    )
    expect(await mine.stop()).toBe(0)
    expect(await Promise.all(readers.map(({ ended }) => ended))).toEqual([
      'end',
      'end',
      'end',
      'end',
      'end',
    ])
  })
})

describe('a reader that does not read [10.ui-stream-bounded]', () => {
  test('costs a connection, not memory, and finds everything when it reads again', async () => {
    const mine = await startDashboard(folder)
    const record = join(folder, '.runs', await finishedRun(), 'events.jsonl')
    const id = record.split('/').at(-2)!
    const lines = readFileSync(record, 'utf8').trimEnd().split('\n')
    const last = JSON.parse(lines.at(-1)!) as { readonly seq: number }
    // A hundred megabytes of events.
    const text = 'x'.repeat(20_000)
    for (let block = 0; block < 50; block++)
      appendFileSync(
        record,
        Array.from(
          { length: 100 },
          (_, index) =>
            `${JSON.stringify({ ...last, type: 'runner_log', message: text, seq: last.seq + 1 + block * 100 + index })}\n`,
        ).join(''),
      )
    const before = memoryOf(mine.running.pid)
    const readers = await Promise.all(
      Array.from({ length: 5 }, () =>
        openStream(
          mine.port,
          `/api/stream?run=${id}&after=0`,
          { authorization: `Bearer ${mine.token}` },
          { idle: true },
        ),
      ),
    )
    for (let index = 0; index < 50; index++) await mine.get('/api/runs')
    expect(memoryOf(mine.running.pid) - before).toBeLessThan(150)
    const reading = await openStream(mine.port, `/api/stream?run=${id}&after=${last.seq + 4_990}`, {
      authorization: `Bearer ${mine.token}`,
    })
    await reading.until((messages) => seqsOf(messages).at(-1) === last.seq + 5_000)
    readers[0]!.goOn()
    await readers[0]!.until((messages) => seqsOf(messages.slice(-1)).at(-1) === last.seq + 5_000)
    const seqs = seqsOf(readers[0]!.messages)
    expect(seqs).toEqual(upTo(1, last.seq + 5_000))
    for (const reader of [...readers, reading]) reader.leave()
    expect(await mine.stop()).toBe(0)
  })
})

async function finishedRun(): Promise<string> {
  const { stdout } = await toolable(['run', 'greets'], { cwd: folder })
  return /r-[0-9a-f]{10}/.exec(stdout)![0]
}

function memoryOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
}
