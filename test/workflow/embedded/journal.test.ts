import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openJournal } from '../../../src/workflow/embedded/journal.ts'
import type { JournalRecord } from '../../../src/workflow/embedded/journal-records.ts'
import { makeFolder } from '../../support/run-program.ts'
import { startWorkflowProgram } from './support.ts'

const done = (key: string, value: unknown = 1): JournalRecord => ({
  t: 'done',
  w: 'r-0000000001',
  k: key,
  v: value,
})
const newFile = (): string => join(makeFolder(), 'journal.jsonl')

async function write(file: string, records: readonly JournalRecord[]): Promise<void> {
  const journal = await openJournal(file)
  for (const record of records) journal.append(record)
  await journal.close()
}

async function read(file: string): Promise<readonly JournalRecord[]> {
  const journal = await openJournal(file)
  await journal.close()
  return journal.records
}

describe('a journal', () => {
  test('gives back what was appended, in order, with a header, for its owner only [9.journal-kept]', async () => {
    const file = newFile()
    const records = [
      done('a', { text: 'ü\n"\u2028', deep: [null, true, 1.5] }),
      done('b'),
      { t: 'cancel', w: 'r-0000000001', reason: 'no' } as const,
    ]
    await write(file, records.slice(0, 2))
    await write(file, records.slice(2))
    expect(await read(file)).toEqual(records)
    expect(readFileSync(file, 'utf8').split('\n')[0]).toBe('{"t":"journal","v":1}')
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  test('resolves synced() only when the bytes are in the file, and takes what comes meanwhile along [9.journal-group-commit]', async () => {
    const file = newFile()
    let batches = 0
    const journal = await openJournal(file, {
      onDurable: () => {
        batches += 1
      },
    })
    await journal.synced()
    batches = 0
    const last = Array.from({ length: 200 }, (_, index) => journal.append(done(String(index)))).at(
      -1,
    )!
    const later = Promise.resolve().then(() => journal.append(done('later')))
    await journal.synced(last)
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(
      203 - (readFileSync(file, 'utf8').includes('later') ? 0 : 1),
    )
    await journal.synced(await later)
    expect(journal.durable.size).toBe(statSync(file).size)
    expect(batches).toBeLessThanOrEqual(2)
    await journal.close()
  })

  test('that is cut at any byte of its last record loses that record and nothing else, and goes on [9.journal-torn]', async () => {
    const file = newFile()
    await write(file, [done('a'), done('b', 'x'.repeat(40))])
    const whole = readFileSync(file)
    const begin = whole.lastIndexOf(0x0a, whole.length - 2) + 1
    for (let length = begin; length < whole.length; length += 1) {
      writeFileSync(file, whole.subarray(0, length))
      expect(await read(file)).toEqual([done('a')])
      expect(statSync(file).size).toBe(begin)
      await write(file, [done('c')])
      expect(await read(file)).toEqual([done('a'), done('c')])
    }
  })

  test('whose header is torn begins anew [9.journal-torn]', async () => {
    const file = newFile()
    for (let length = 0; length < '{"t":"journal","v":1}\n'.length; length += 1) {
      writeFileSync(file, '{"t":"journal","v":1}\n'.slice(0, length))
      await write(file, [done('a')])
      expect(await read(file)).toEqual([done('a')])
      truncateSync(file)
    }
  })

  test('with zeroes behind its last line, as a lost page leaves them, opens [9.journal-torn]', async () => {
    const file = newFile()
    await write(file, [done('a')])
    appendFileSync(file, Buffer.alloc(4096))
    expect(await read(file)).toEqual([done('a')])
  })

  test.each(['garbage', '{"t":"done"', '[]', '{"t":"nobody","w":"x"}', '', 'null'])(
    'with %j in the middle is refused with file and line, and left as it is [9.journal-garbage]',
    async (garbage) => {
      const file = newFile()
      await write(file, [done('a'), done('b')])
      const lines = readFileSync(file, 'utf8').split('\n')
      writeFileSync(file, [...lines.slice(0, 2), garbage, ...lines.slice(2)].join('\n'))
      const before = readFileSync(file, 'utf8')
      await expect(openJournal(file)).rejects.toMatchObject({
        code: 'CONFIG',
        message: expect.stringContaining(`line 3 of ${file}`),
      })
      expect(readFileSync(file, 'utf8')).toBe(before)
    },
  )

  test('of a newer version is refused, and left as it is [9.journal-newer]', async () => {
    const file = newFile()
    writeFileSync(file, '{"t":"journal","v":2}\n{"t":"new"}\n')
    for (const read of [true, false])
      await expect(openJournal(file, { read })).rejects.toMatchObject({
        code: 'CONFIG',
        message: expect.stringMatching(/newer version.*2/),
        suggestion: { fix: expect.stringContaining('version of toolable') },
      })
    writeFileSync(file, 'Dear diary\n')
    for (const read of [true, false])
      await expect(openJournal(file, { read })).rejects.toMatchObject({
        code: 'CONFIG',
        message: expect.stringContaining('no journal'),
      })
  })

  test('follows no link, and takes no folder for a file [9.journal-kept]', async () => {
    const [file, other] = [newFile(), newFile()]
    writeFileSync(other, '')
    symlinkSync(other, file)
    await expect(openJournal(file)).rejects.toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining('link'),
    })
    rmSync(file)
    mkdirSync(file)
    await expect(openJournal(file)).rejects.toMatchObject({ code: 'CONFIG' })
    expect(readFileSync(other, 'utf8')).toBe('')
  })

  test('keeps no record that is longer than a line may be, and goes on [9.journal-bounded]', async () => {
    const file = newFile()
    const journal = await openJournal(file)
    expect(() => journal.append(done('a', 'x'.repeat(17 * 1024 * 1024)))).toThrow(
      expect.objectContaining({ code: 'OUTPUT_LIMIT' }),
    )
    expect(() => journal.append(done('a', 1n))).toThrow(
      expect.objectContaining({ code: 'INTERNAL' }),
    )
    journal.append(done('b'))
    await journal.close()
    expect(await read(file)).toEqual([done('b')])
  })

  test('that is closed writes nothing any more, into no file at all [9.journal-kept]', async () => {
    const [file, other] = [newFile(), newFile()]
    const journal = await openJournal(file)
    await journal.close()
    // It gets the descriptor that has just become free.
    const next = await openJournal(other)
    journal.append(done('too late'))
    await expect(journal.synced()).rejects.toMatchObject({ message: `${file} is closed` })
    await journal.close().catch(() => undefined)
    next.append(done('a'))
    await next.close()
    expect([await read(file), await read(other)]).toEqual([[], [done('a')]])
  })

  test('opened without reading it cuts the torn tail too [9.journal-torn]', async () => {
    const file = newFile()
    await write(file, [done('a', 'x'.repeat(100_000))])
    appendFileSync(file, `{"t":"done","w":"r-0000000001","k":"b","v":"${'y'.repeat(200_000)}`)
    const journal = await openJournal(file, { read: false })
    journal.append(done('c'))
    await journal.close()
    expect((await read(file)).map((record) => (record as { k: string }).k)).toEqual(['a', 'c'])
  })
})

describe('a disk that fails', () => {
  test.each(['write:error=EIO:when=3', 'fdatasync:error=EIO:when=3', 'write:error=ENOSPC:when=2'])(
    '%s: everybody who waits is told, nothing is acknowledged after it, and what was acknowledged is there [9.journal-poisoned]',
    async (injury) => {
      const file = newFile()
      writeFileSync(file, '')
      const { lines, status } = await startWorkflowProgram('writes-a-journal.mjs', [file, '6'], {
        behind: ['strace', '-f', '-qq', '-o', '/dev/null', '-P', file, '-e', `inject=${injury}`],
      }).ended
      expect(status).toBe(0)
      const acknowledged = lines
        .filter((line) => line.acknowledged !== undefined)
        .map((line) => line.acknowledged)
      const failed = lines.filter((line) => line.failed !== undefined)
      expect(failed.length).toBe(6 - acknowledged.length)
      expect(new Set(failed.map((line) => line.failed))).toEqual(
        new Set([injury.includes('ENOSPC') ? 'DISK_FULL' : 'INTERNAL']),
      )
      const keys = (await read(file)).map((record) => (record as { k: string }).k)
      expect(keys.slice(0, acknowledged.length)).toEqual(acknowledged)
    },
  )

  test('that is full poisons the journal; when there is space a new one goes on from what was acknowledged [9.journal-poisoned]', async () => {
    const place = makeFolder()
    const { lines, stderr } = await startWorkflowProgram('fills-the-disk.mjs', [place], {
      behind: [
        'unshare',
        '-Urm',
        '/bin/sh',
        '-c',
        `mount -t tmpfs -o size=256k none "${place}" && exec "$@"`,
        'sh',
      ],
    }).ended
    expect(stderr).toBe('')
    const [full, again] = lines
    expect(full).toMatchObject({ failure: 'DISK_FULL', after: 'DISK_FULL' })
    expect(full.acknowledged).toBeGreaterThan(10)
    expect(again.kept).toBeGreaterThanOrEqual(full.acknowledged)
    expect(again.last).toBe('after')
  })
})

describe('a writer that is killed', () => {
  test.each(['journal.append#4', 'journal.written#3', 'journal.synced#3'])(
    'at %s has kept what it had acknowledged [9.journal-killed]',
    async (place) => {
      const file = newFile()
      const { lines, signal } = await startWorkflowProgram('writes-a-journal.mjs', [file, '6'], {
        env: { TOOLABLE_CRASH_AT: place },
      }).ended
      expect(signal).toBe('SIGKILL')
      const acknowledged = lines.map((line) => line.acknowledged)
      expect(acknowledged.length).toBeGreaterThan(0)
      expect(acknowledged.length).toBeLessThan(6)
      const keys = (await read(file)).map((record) => (record as { k: string }).k)
      expect(keys.slice(0, acknowledged.length)).toEqual(acknowledged)
    },
  )
})
