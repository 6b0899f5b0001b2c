import { appendFileSync, existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { openEventLog } from '../../src/runner/event-log.ts'
import { readEvents, scanLog } from '../../src/runner/log-reader.ts'
import { makeFolder } from '../support/run-program.ts'
import { eventsOf, isGapless } from './record-support.ts'

const runId = 'r-0123456789'
const logFile = (): string => join(makeFolder(), 'events.jsonl')
const START = { type: 'runner_start', tool: 'a.b' }
const END = { type: 'runner_end', state: 'completed', rc: 0 }

async function collect(file: string, from?: number): Promise<number[]> {
  const found: number[] = []
  for await (const { seq } of readEvents(file, from === undefined ? {} : { from })) found.push(seq)
  return found
}

describe('the log of a run', () => {
  test('what is appended in one turn leaves in one write, and only what is written is mirrored [7.log-batches]', async () => {
    const file = logFile()
    const mirrored: string[] = []
    const { log, standing } = await openEventLog(file, {
      runId,
      attempt: 1,
      onWritten: (text) => {
        mirrored.push(text)
        expect(readFileSync(file, 'utf8').endsWith(text)).toBe(true)
      },
    })
    expect(standing).toEqual({ state: 'queued', attempt: 0, open: [] })
    for (const type of ['runner_start', 'log', 'log']) log.append({ type })
    expect(mirrored).toEqual([])
    expect(log.waiting).toBeGreaterThan(100)
    await log.flush()
    expect(log.waiting).toBe(0)
    log.append({ type: 'log' })
    await log.close()
    expect(mirrored.map((text) => text.split('\n').length - 1)).toEqual([3, 1])
    expect(mirrored.join('')).toBe(readFileSync(file, 'utf8'))
    expect(existsSync(join(file, '..', 'reserve'))).toBe(false)
  })

  test('goes on where it stopped, with where the run stands [7.log-reopened]', async () => {
    const file = logFile()
    const first = await openEventLog(file, { runId, attempt: 1 })
    for (const event of [START, { type: 'action_required', interaction: { id: 'q-\u00e9' } }])
      first.log.append(event)
    await first.log.close()
    const second = await openEventLog(file, { runId })
    expect(second.standing).toEqual({ state: 'waiting_ai', attempt: 1, open: ['q-\u00e9'] })
    expect(second.last).toMatchObject({ type: 'action_required', seq: 2 })
    expect(second.log.append({ type: 'runner_log', answer: { id: 'q-\u00e9' } })).toMatchObject({
      seq: 3,
      attempt: 1,
    })
    second.log.append({ ...END, state: 'failed' })
    await second.log.close()
    const third = await openEventLog(file, { runId, attempt: 2 })
    expect(third.standing.state).toBe('failed')
    expect(third.log.append(START)).toMatchObject({ seq: 5, attempt: 2 })
    await third.log.close()
    expect(await collect(file)).toEqual([1, 2, 3, 4, 5])
    expect(await collect(file, 4)).toEqual([4, 5])
  })

  test('secrets are taken out of every line, and every line stays one [7.log-redacted]', async () => {
    const file = logFile()
    const mirrored: string[] = []
    const { log } = await openEventLog(file, {
      runId,
      attempt: 1,
      onWritten: (text) => mirrored.push(text),
      redact: (text) =>
        text.replaceAll('s3cret', '***').replaceAll('"end"', '').replaceAll('completed', ''),
    })
    log.append({ type: 'log', msg: 'the s3cret is s3cret' })
    log.append({ type: 'log', msg: 'end' })
    log.append(END)
    await log.close()
    expect(readFileSync(file, 'utf8')).toBe(mirrored.join(''))
    expect(eventsOf(file)).toMatchObject([
      { msg: 'the *** is ***', seq: 1 },
      { type: 'log', seq: 2, redacted: true },
      { type: 'runner_end', state: 'completed', rc: 0, seq: 3 },
    ])
  })
})

describe('a log that was cut', () => {
  const whole = logFile()
  const ends: number[] = []
  let bytes: Buffer

  beforeAll(async () => {
    const { log } = await openEventLog(whole, { runId, attempt: 1 })
    log.append(START)
    for (let event = 1; event < 199; event += 1) log.append({ type: 'log', n: event })
    log.append(END)
    await log.close()
    bytes = readFileSync(whole)
    for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) ends.push(at + 1)
    expect(ends).toHaveLength(200)
  })

  test('at any byte keeps every whole line, loses nothing acknowledged and never says completed [7.log-cut-anywhere]', async () => {
    for (let cut = bytes.length; cut >= 0; cut -= 1) {
      const file = {
        read: async (buffer: Buffer, offset: number, length: number, position: number) => ({
          bytesRead: bytes.copy(buffer, offset, position, Math.min(cut, position + length)),
        }),
      }
      const { standing, last, end } = await scanLog(file)
      const acknowledged = ends.filter((one) => one <= cut)
      if (
        end !== (acknowledged.at(-1) ?? 0) ||
        (last?.seq ?? 0) !== acknowledged.length ||
        (standing.state === 'completed') !== (cut === bytes.length)
      )
        expect.unreachable(`cut at ${cut}: ${JSON.stringify({ standing, last, end })}`)
    }
  })

  test('opens without an error around the ends of lines, tells what was cut, and goes on [7.log-cut-anywhere]', async () => {
    const file = logFile()
    for (const end of ends.slice(0, -1).filter((_end, index) => index % 10 === 0)) {
      for (const cut of [end - 1, end, end + 1, end + 40]) {
        writeFileSync(file, bytes.subarray(0, cut))
        const { log, last } = await openEventLog(file, { runId })
        log.append({ type: 'runner_end', state: 'failed', rc: 1 })
        await log.close()
        const events = eventsOf(file)
        expect(isGapless(events)).toBe(true)
        expect(events.slice(0, last?.seq ?? 0).map(({ n }) => n)).toEqual(
          Array.from({ length: last?.seq ?? 0 }, (_, n) => (n === 0 ? undefined : n)),
        )
        expect(events.slice(last?.seq ?? 0).map(({ type }) => type)).toEqual([
          ...(cut === end ? [] : ['runner_warning']),
          'runner_end',
        ])
      }
    }
  })

  test.each([
    ['zeros', Buffer.alloc(5000)],
    ['zeros with ends of lines', Buffer.from('\0\0\n\0\n\n\n')],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x80, 0x0a, 0xc3])],
    ['JSON that is no event', Buffer.from('{}\n[1]\n{"type":"runner_end","state":"completed"}\n')],
    [
      'an end without its line feed',
      Buffer.from(
        '{"v":1,"type":"runner_end","ts":"","run_id":"r-0123456789","state":"completed","seq":4,"attempt":1}',
      ),
    ],
    ['half a megabyte without an end of line', Buffer.alloc(500_000, 'a')],
  ])('a tail of %s is cut [7.log-cut-anywhere]', async (_what, tail) => {
    const file = logFile()
    writeFileSync(file, Buffer.concat([bytes.subarray(0, ends[2]), tail]))
    const { log, standing, last } = await openEventLog(file, { runId })
    expect([standing.state, last?.seq]).toEqual(['running', 3])
    await log.close()
    expect(eventsOf(file).at(-1)).toMatchObject({
      type: 'runner_warning',
      seq: 4,
      cut_bytes: tail.length,
    })
  })

  test('damage in the middle takes nothing else along [7.log-cut-anywhere]', async () => {
    const file = logFile()
    writeFileSync(
      file,
      Buffer.concat([
        bytes.subarray(0, ends[2]),
        Buffer.from('\0\0garbage\n'),
        bytes.subarray(ends[2], ends[5]),
      ]),
    )
    expect(await collect(file)).toEqual([1, 2, 3, 4, 5, 6])
    const { log, last } = await openEventLog(file, { runId })
    expect(last?.seq).toBe(6)
    await log.close()
  })

  test('a run that is over says nothing before it starts again [7.log-cut-anywhere]', async () => {
    const file = logFile()
    writeFileSync(file, `${bytes.toString().replace('completed', 'failed')}{"v"`)
    const { log } = await openEventLog(file, { runId, attempt: 2 })
    expect(log.append(START).seq).toBe(201)
    await log.close()
    expect(
      eventsOf(file)
        .slice(200)
        .map(({ type }) => type),
    ).toEqual(['runner_start', 'runner_warning'])
  })
})

describe('following a log', () => {
  test('gives whole lines as they come, and is not misled by a piece that is cut and written anew [7.log-followed]', async () => {
    const file = logFile()
    const line = (seq: number, more = ''): string =>
      `{"v":1,"type":"log","ts":"","run_id":"${runId}","seq":${seq},"attempt":1,"m":"${more}"}\n`
    let complete = false
    const events = readEvents(file, { follow: true, isComplete: () => complete })
    const next = async (): Promise<unknown> =>
      ((await events.next()).value as { m?: string } | undefined)?.m
    const first = next()
    appendFileSync(file, line(1, 'first').slice(0, 30))
    appendFileSync(file, line(1, 'first').slice(30))
    expect(await first).toBe('first')
    const size = readFileSync(file).length
    appendFileSync(file, line(2, 'never whole').slice(0, 50))
    const second = next()
    // Long enough for the reader to have seen the piece, which must not matter.
    await new Promise((resolve) => {
      setTimeout(resolve, 50)
    })
    truncateSync(file, size)
    appendFileSync(file, line(2, 'second, which is longer than the piece was'))
    expect(await second).toBe('second, which is longer than the piece was')
    appendFileSync(file, line(3, 'last'))
    complete = true
    expect([await next(), await next()]).toEqual(['last', undefined])
  })

  test('ends with the signal, and with the folder [7.log-followed]', async () => {
    const control = new AbortController()
    const events = readEvents(logFile(), { follow: true, signal: control.signal })
    const end = events.next()
    control.abort()
    expect(await end).toEqual({ done: true, value: undefined })
    const gone = join(makeFolder(), 'not', 'there')
    expect(await collect(gone)).toEqual([])
    expect(await readEvents(gone, { follow: true }).next()).toMatchObject({ done: true })
  })
})
