import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { readStateFile, slice, tool, withStateFile } from 'toolable'
import type { State } from 'toolable'
import { fixture, launch, makeFolder, runProgram } from '../support/run-program.ts'
import '../support/without-coverage.ts'
import { TOOLABLE, TOOLABLE_PATH } from '../support/toolable-program.ts'

const notes = slice<string>('notes')
const preload = (name: string): string[] => ['--import', pathToFileURL(fixture(name)).href]
const notesIn = async (file: string): Promise<readonly string[]> =>
  (await readStateFile(file)).get(notes).all()
const noting =
  (text: string) =>
  (state: State): void =>
    state.get(notes).append(text)

async function fileWith(...texts: string[]): Promise<string> {
  const file = join(makeFolder(), 'session.json')
  await withStateFile(file, (state) => state.get(notes).append(...texts))
  return file
}

describe('a state in a file', () => {
  test('is there for the next one, with its id and slices that nobody asked for, and readable by its owner only [8.state-file]', async () => {
    const file = join(makeFolder(), 'deep', 'er', 'session.json')
    const id = await withStateFile(file, (state) => {
      state.get(notes).append('a')
      state.get(slice<number>('log', { kind: 'log' })).append(1)
      return state.id
    })
    await withStateFile(file, noting('b'))
    expect(await notesIn(file)).toEqual(['a', 'b'])
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      version: 1,
      id,
      slices: { notes: { kind: 'state', items: ['a', 'b'] }, log: { kind: 'log', items: [1] } },
    })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(join(file, '..'))).toEqual(['session.json'])
  })

  test('is written only when something changed and nothing failed; what was made for it goes again [8.state-file]', async () => {
    const file = await fileWith('a')
    const before = readFileSync(file, 'utf8')
    writeFileSync(file, before.replaceAll('\n', ''))
    await withStateFile(file, (state) => void state.get(notes).latest())
    await expect(
      withStateFile(file, (state) => {
        noting('b')(state)
        throw new Error('changed my mind')
      }),
    ).rejects.toThrow('changed my mind')
    expect(readFileSync(file, 'utf8')).toBe(before.replaceAll('\n', ''))
    const nowhere = join(makeFolder(), 'new', 'session.json')
    await withStateFile(nowhere, () => undefined)
    expect(existsSync(join(nowhere, '..'))).toBe(false)
    expect(await notesIn(nowhere)).toEqual([])
  })

  test('calls work on it as on any state, and save() makes sure of what is done so far [8.state-file]', async () => {
    const file = await fileWith()
    const note = tool({
      name: 'note',
      summary: 'Notes',
      run: (_input, ctx) => noting('from a call')(ctx.state),
    })
    await expect(
      withStateFile(file, async (state, { save }) => {
        await note({}, { state })
        save()
        expect(await notesIn(file)).toEqual(['from a call'])
        await note({}, { state })
        throw new Error('later')
      }),
    ).rejects.toThrow('later')
    expect(await notesIn(file)).toEqual(['from a call'])
  })

  test('keeps a link a link and the mode what it is, and writes nothing for one who gave up [8.state-file]', async () => {
    const file = await fileWith('a')
    chmodSync(file, 0o640)
    const link = join(makeFolder(), 'link.json')
    symlinkSync(file, link)
    await withStateFile(link, noting('b'))
    expect([
      lstatSync(link).isSymbolicLink(),
      statSync(file).mode & 0o777,
      await notesIn(file),
    ]).toEqual([true, 0o640, ['a', 'b']])
    const gaveUp = AbortSignal.abort(new Error('gave up'))
    await expect(withStateFile(file, noting('c'), { signal: gaveUp })).rejects.toThrow('gave up')
    expect(await notesIn(file)).toEqual(['a', 'b'])
  })

  test.each([
    ['no JSON', '{ "version": 1,', 'it is not JSON'],
    ['another version', '{"version":2,"id":"x","slices":{}}', 'version 2'],
    ['no version', '{"slices":{}}', 'version'],
    ['a list', '[]', 'no state'],
    [
      'a slice that is none',
      '{"version":1,"id":"x","slices":{"a":{"kind":"other","items":[]}}}',
      "slice 'a'",
    ],
    [
      'an item that the slice does not take',
      '{"version":1,"id":"x","slices":{"counts":{"kind":"state","items":["one"]}}}',
      'not a number',
    ],
    ['nothing', '', 'it is not JSON'],
  ])(
    '%s: CONFIG that names the file, and the file is left alone [8.state-file-refused]',
    async (_what, text, problem) => {
      const counts = slice<number>('counts', {
        read: (value) => {
          if (typeof value === 'number') return value
          throw new Error('not a number')
        },
      })
      const file = join(makeFolder(), 'session.json')
      writeFileSync(file, text)
      let hasRun = false
      const refused = {
        code: 'CONFIG',
        message: expect.stringContaining(problem),
        details: { file },
        suggestion: { fix: expect.stringContaining(`mv ${file} ${file}.broken`) },
      }
      await expect(
        withStateFile(
          file,
          () => {
            hasRun = true
          },
          { slices: [counts] },
        ),
      ).rejects.toMatchObject(refused)
      await expect(readStateFile(file, { slices: [counts] })).rejects.toMatchObject(refused)
      expect([hasRun, readFileSync(file, 'utf8'), readdirSync(join(file, '..'))]).toEqual([
        false,
        text,
        ['session.json'],
      ])
    },
  )

  test('a folder, a link to nothing, a device and bytes that are no text are refused by name [8.state-file-refused]', async () => {
    const folder = makeFolder()
    mkdirSync(join(folder, 'folder'))
    symlinkSync('nowhere', join(folder, 'link'))
    symlinkSync('/dev/zero', join(folder, 'device'))
    writeFileSync(join(folder, 'bytes'), Buffer.from([0xff, 0xfe]))
    for (const name of ['folder', 'link', 'device', 'bytes'])
      await expect(withStateFile(join(folder, name), noting('a'))).rejects.toMatchObject({
        code: 'CONFIG',
        message: expect.stringContaining(join(folder, name)),
      })
    expect(readdirSync(folder).sort()).toEqual(['bytes', 'device', 'folder', 'link'])
  })
})

describe('several at once', () => {
  test('within a process they take turns, and lose nothing [8.state-file-turns]', async () => {
    const file = await fileWith()
    await Promise.all(
      Array.from({ length: 20 }, (_, number) =>
        withStateFile(file, async (state) => {
          const seen = state.get(notes).all().length
          await new Promise(setImmediate)
          state.get(notes).replace([...state.get(notes).all(), `${number} after ${seen}`])
        }),
      ),
    )
    const all = await notesIn(file)
    expect(all.map((note) => Number(note.split(' ')[2]))).toEqual(
      Array.from({ length: 20 }, (_, number) => number),
    )
  })

  test('who waits too long is told who holds it, and who gives up meanwhile is not kept [8.state-file-turns]', async () => {
    const file = await fileWith()
    await withStateFile(file, async () => {
      await expect(withStateFile(file, noting('a'), { wait: '10ms' })).rejects.toMatchObject({
        code: 'CONFLICT',
        retryable: true,
        message: expect.stringContaining(`process ${process.pid}`),
      })
      await expect(
        withStateFile(file, noting('a'), { signal: AbortSignal.timeout(10) }),
      ).rejects.toThrow()
      expect(await notesIn(file)).toEqual([])
    })
    await withStateFile(file, noting('b'))
    expect(await notesIn(file)).toEqual(['b'])
  })

  test('the lock of a process that is gone holds nobody up; that of another machine or container does [8.state-file-turns]', async () => {
    const file = await fileWith('a')
    const lock = join(file, '..', '.session.json.toolable')
    const here = {
      machine: readFileSync('/proc/sys/kernel/hostname', 'utf8').trim(),
      boot: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
    }
    for (const dead of [
      'garbage',
      '',
      JSON.stringify({ pid: 2 ** 22 + 1 }),
      JSON.stringify({ ...here, boot: 'an earlier one', namespace: 'x', pid: process.pid }),
    ]) {
      writeFileSync(lock, dead)
      await withStateFile(file, noting('b'))
    }
    expect(await notesIn(file)).toEqual(['a', 'b', 'b', 'b', 'b'])
    for (const elsewhere of [
      { ...here, machine: 'another' },
      { ...here, namespace: 'pid:[1]' },
    ]) {
      writeFileSync(lock, JSON.stringify({ namespace: '', ...elsewhere, pid: 2 ** 22 + 1 }))
      await expect(withStateFile(file, noting('c'), { wait: '10ms' })).rejects.toMatchObject({
        code: 'CONFLICT',
        suggestion: { fix: expect.stringContaining(lock) },
      })
    }
  })

  test('one who writes without the lock is noticed, and not written over [8.state-file-turns]', async () => {
    const file = await fileWith('a')
    const other = readFileSync(file, 'utf8').replace('"a"', '"by hand"')
    await expect(
      withStateFile(file, (state) => {
        noting('b')(state)
        writeFileSync(file, other)
      }),
    ).rejects.toMatchObject({ code: 'CONFLICT', message: expect.stringContaining(file) })
    expect(readFileSync(file, 'utf8')).toBe(other)
  })
})

describe('faults in the middle', () => {
  const update = (
    cwd: string,
    nodeArgs: readonly string[],
    env: { readonly [name: string]: string },
  ) => runProgram(TOOLABLE, ['plan', 'update', '1', 'done'], { cwd, nodeArgs, env })
  const planIn = (file: string): { steps: { status: string }[] } =>
    (
      JSON.parse(readFileSync(file, 'utf8')) as {
        slices: { 'toolable.plan': { items: [{ steps: { status: string }[] }] } }
      }
    ).slices['toolable.plan'].items[0]
  const planned = JSON.stringify({
    version: 1,
    id: 's',
    slices: {
      'toolable.plan': {
        kind: 'state',
        items: [
          {
            objective: 'o',
            status: 'active',
            steps: [
              { step_id: 1, title: 'a', status: 'pending' },
              { step_id: 2, title: 'b', status: 'pending' },
            ],
          },
        ],
      },
    },
  })

  function planFile(): string {
    const folder = join(makeFolder(), '.toolable')
    mkdirSync(folder)
    writeFileSync(join(folder, 'session.json'), planned)
    return join(folder, 'session.json')
  }

  test('killed before any of its writes: the old file or the new one, and the next one goes on and cleans up [8.state-file-killed]', async () => {
    const ends = await Promise.all(
      Array.from({ length: 10 }, async (_, index) => {
        const file = planFile()
        const { signal } = await update(join(file, '../..'), preload('dies-at-a-write.mjs'), {
          DIE_AT: String(index + 1),
          DIE_IN: '.toolable',
        })
        const status = planIn(file).steps[0]!.status
        await withStateFile(file, noting('after'))
        return { signal, status, left: readdirSync(join(file, '..')) }
      }),
    )
    expect(ends.every(({ left }) => left.length === 1)).toBe(true)
    const killed = ends.filter(({ signal }) => signal === 'SIGKILL').map(({ status }) => status)
    expect(killed.length).toBeGreaterThan(5)
    expect(new Set(killed)).toEqual(new Set(['pending', 'done']))
    // Once it is new it stays so.
    expect(killed.join(' ')).toMatch(/^(pending )+done( done)*$/)
  })

  test('a disk that is full: DISK_FULL, exit 73, and the old file [8.state-file-disk-full]', async () => {
    const place = makeFolder()
    const script = `mount -t tmpfs -o size=64k none "${place}" && cd "${place}" && mkdir .toolable && printf '%s' '${planned}' > .toolable/session.json && dd if=/dev/zero of=ballast bs=1k count=1000 2>/dev/null; "$@"; echo "$?"; ls -A .toolable; cat .toolable/session.json`
    const { stdout } = await launch(
      'unshare',
      [
        '-Urm',
        '/bin/sh',
        '-c',
        script,
        'sh',
        process.execPath,
        TOOLABLE_PATH,
        'plan',
        'update',
        '1',
        'done',
      ],
      {},
    ).ended
    const [outcome, status, files, text] = stdout.split('\n')
    expect(JSON.parse(outcome!)).toMatchObject({
      ok: false,
      error: { code: 'DISK_FULL', suggestion: { fix: expect.stringContaining('space') } },
    })
    expect([status, files, text]).toEqual(['73', 'session.json', planned])
  })

  test.each([
    ['renameSync', 'EIO', 'INTERNAL', 1],
    ['writeFileSync', 'EACCES', 'PERMISSION', 77],
    ['writeFileSync', 'EDQUOT', 'DISK_FULL', 73],
  ])(
    '%s that fails with %s is %s, and the old file stays [8.state-file-disk-full]',
    async (name, code, expected, status) => {
      const file = planFile()
      const ended = await update(join(file, '../..'), preload('disk-that-fails.mjs'), {
        FAIL_CALL: name,
        FAIL_CODE: code,
        FAIL_IN: '.toolable/',
      })
      expect([ended.status, ended.json.error.code]).toEqual([status, expected])
      expect([readFileSync(file, 'utf8'), readdirSync(join(file, '..'))]).toEqual([
        planned,
        ['session.json'],
      ])
    },
  )
})
