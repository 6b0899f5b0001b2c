import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import {
  call,
  createState,
  fileTools,
  folderFiles,
  guards,
  memoryFiles,
  tool,
  toolset,
} from 'toolable'
import type { CallOptions } from 'toolable'

const rule = guards.readBeforeWrite({
  read: ['read_file', 'list_files'],
  write: ['write_file', 'edit_file', 'remove_file', 'move_file'],
  path: ['path', 'to'],
})
const format = tool({
  name: 'format',
  summary: 'Changes what it likes',
  input: z.object({ path: z.string() }),
  run: async ({ path }, ctx) =>
    ctx.filesystem.write(path, `${await ctx.filesystem.readText(path)}\n`),
})
const set = toolset({ name: 'files', tools: [...fileTools(), format] })

function open(
  options: CallOptions = {
    state: createState({ filesystem: memoryFiles({ files: { 'a.txt': 'a', 'd/b.txt': 'b' } }) }),
  },
) {
  const act = (name: string, input: object) => set.call(name, input, { ...options, guards: [rule] })
  return {
    act,
    read: (path: string) => act('read_file', { path }),
    write: (path: string, content = 'new') => act('write_file', { path, content }),
  }
}

function openFolder() {
  const root = mkdtempSync(join(tmpdir(), 'toolable-guards-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  writeFileSync(join(root, 'a.txt'), 'a')
  return { root, ...open({ state: createState({ filesystem: folderFiles(root) }) }) }
}

const NOT_READ = {
  ok: false,
  error: { code: 'PRECONDITION', details: { reason: 'not_read', guard: 'read_before_write' } },
}
const CHANGED = { ok: false, error: { code: 'PRECONDITION', details: { reason: 'changed' } } }

describe('read before write', () => {
  test('[8.guards-read-before-write] what exists has to be read first, with advice that can be followed; what does not exist is free, and what was written is known', async () => {
    const { act, read, write, root } = openFolder()
    expect(await write('a.txt')).toMatchObject({
      ...NOT_READ,
      error: {
        ...NOT_READ.error,
        message: "'a.txt' exists and was not read, so 'write_file' may not change it",
        suggestion: {
          fix: 'Call \'read_file\' with {"path":"a.txt"}; then call \'write_file\' again',
        },
      },
    })
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('a')
    expect(await read('a.txt')).toMatchObject({ ok: true })
    expect(await write('a.txt')).toMatchObject({ ok: true })
    expect(await act('edit_file', { path: 'a.txt', old: 'new', new: 'newer' })).toMatchObject({
      ok: true,
    })
    expect(await write('fresh/c.txt')).toMatchObject({ ok: true })
    expect(await write('fresh/c.txt', 'again')).toMatchObject({ ok: true })
  })

  test('[8.guards-read-before-write] what was changed since by another call or another program has to be read again', async () => {
    const { act, read, write, root } = openFolder()
    await read('a.txt')
    writeFileSync(join(root, 'a.txt'), 'by somebody')
    expect(await write('a.txt')).toMatchObject({
      ...CHANGED,
      error: {
        ...CHANGED.error,
        message: "'a.txt' has changed since it was read, so 'write_file' may not change it",
      },
    })
    await read('a.txt')
    expect(await act('format', { path: 'a.txt' })).toMatchObject({ ok: true })
    expect(await write('a.txt')).toMatchObject(CHANGED)
    await read('a.txt')
    expect(await write('a.txt')).toMatchObject({ ok: true })
  })

  test('[8.guards-read-before-write] a reading or writing call that fails teaches nothing', async () => {
    const { act, write } = open()
    expect(await act('read_file', { path: 'a.txt', offset: -1 })).toMatchObject({ ok: false })
    expect(await write('a.txt')).toMatchObject(NOT_READ)
    expect(await act('read_file', { path: 'none.txt' })).toMatchObject({ ok: false })
    expect(await write('none.txt')).toMatchObject({ ok: true })
  })

  test.each([
    './a.txt',
    'd/../a.txt',
    '/a.txt',
    'A.TXT',
    'd//../a.txt',
    './/a.txt',
    'a.txt\0',
    'a.txt/.',
    '..\\a.txt',
  ])('[8.guards-read-before-write] spelled %j it is no way around', async (spelling) => {
    const { act, write, root } = openFolder()
    await act('write_file', { path: 'd/x', content: 'x' })
    const outcome = await write(spelling, 'sneaked in')
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('a')
    if (outcome.ok) expect(outcome.result).toMatchObject({ created: true })
  })

  test('[8.guards-read-before-write] reading under one spelling counts for the others that mean the same, and for no other file', async () => {
    const first = open()
    await first.read('.//d/./b.txt')
    expect(await first.write('d/b.txt')).toMatchObject({ ok: true })
    for (const [one, other] of [
      ['e\u0301.txt', '\u00e9.txt'],
      ['x.txt', 'X.txt'],
      ['back\\slash', 'back/slash'],
    ] as const) {
      const state = createState({ filesystem: memoryFiles() })
      const { read, write } = open({ state })
      for (const path of [one, other]) await state.filesystem.write(path, 'same')
      expect(await read(one)).toMatchObject({ ok: true })
      expect(await write(other)).toMatchObject(NOT_READ)
    }
  })

  test('[8.guards-read-before-write] moved and removed files: the new place is known, the old one forgotten', async () => {
    const { act, read, write } = open()
    expect(await act('move_file', { path: 'a.txt', to: 'z.txt' })).toMatchObject(NOT_READ)
    await read('a.txt')
    expect(await act('move_file', { path: 'a.txt', to: 'z.txt' })).toMatchObject({ ok: true })
    expect(await write('z.txt')).toMatchObject({ ok: true })
    expect(await act('remove_file', { path: 'z.txt' })).toMatchObject({ ok: true })
    const maker = tool({
      name: 'maker',
      summary: 'm',
      run: (_input, ctx) => ctx.filesystem.write('z.txt', 'new'),
    })
    const state = createState({ filesystem: memoryFiles() })
    const other = open({ state })
    await other.write('z.txt')
    await other.act('remove_file', { path: 'z.txt' })
    await call(maker, {}, { state })
    expect(await other.write('z.txt')).toMatchObject(NOT_READ)
  })

  test('[8.guards-read-before-write] a folder goes only when what lies in it was listed', async () => {
    const { act } = open()
    expect(await act('remove_file', { path: 'd', recursive: true })).toMatchObject(NOT_READ)
    await act('list_files', { path: 'd' })
    await act('write_file', { path: 'd/later.txt', content: 'x' })
    expect(await act('remove_file', { path: 'd', recursive: true })).toMatchObject(CHANGED)
    await act('list_files', { path: 'd' })
    expect(await act('remove_file', { path: 'd', recursive: true })).toMatchObject({ ok: true })
  })

  test('[8.guards-read-before-write] a file that changes between the decision and the commit is a conflict, not a loss', async () => {
    const { read, root } = openFolder()
    const state = createState({ filesystem: folderFiles(root) })
    const slow = tool({
      name: 'write_file',
      summary: 'w',
      run: async (_input, ctx) => {
        writeFileSync(join(root, 'a.txt'), 'by somebody')
        await ctx.filesystem.write('a.txt', 'mine')
      },
      input: z.object({ path: z.string() }),
    })
    await read('a.txt')
    await set.call('read_file', { path: 'a.txt' }, { state, guards: [rule] })
    expect(await call(slow, { path: 'a.txt' }, { state, guards: [rule] })).toMatchObject({
      ok: false,
      error: { code: 'CONFLICT' },
    })
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('by somebody')
  })

  test('[8.guards-closed] without files of the state, or without a path in the input, it refuses', async () => {
    const { write } = open({ state: createState() })
    expect(await write('a.txt')).toMatchObject({
      ok: false,
      error: { code: 'CONFIG', message: expect.stringContaining('no files') },
    })
    const odd = tool({
      name: 'write_file',
      summary: 'w',
      input: z.object({ path: z.any() }),
      run: () => 'ran',
    })
    for (const path of [undefined, 5, ['a.txt', 5], [], { path: 'a.txt' }])
      expect(
        await call(
          odd,
          { path },
          { state: createState({ filesystem: memoryFiles() }), guards: [rule] },
        ),
      ).toMatchObject({ ok: false, error: { code: 'CONFIG' } })
  })

  test('[8.guards-read-before-write] things that are no files: version tells what stands there, several at once', async () => {
    const rows = new Map([
      ['one', 1],
      ['two', 1],
    ])
    const readRow = tool({
      name: 'read_row',
      summary: 'r',
      input: z.object({ id: z.string() }),
      run: ({ id }) => rows.get(id) ?? null,
    })
    const setRows = tool({
      name: 'set-rows',
      summary: 's',
      input: z.object({ id: z.array(z.string()) }),
      run: ({ id }) => {
        for (const one of id) rows.set(one, (rows.get(one) ?? 0) + 1)
      },
    })
    const options = {
      state: createState(),
      guards: [
        guards.readBeforeWrite({
          read: 'read_row',
          write: 'set_rows',
          path: 'id',
          version: (id) => rows.get(id)?.toString(),
        }),
      ],
    }
    await call(readRow, { id: 'one' }, options)
    expect(await call(setRows, { id: ['one', 'two'] }, options)).toMatchObject({
      ok: false,
      error: { details: { path: 'two' } },
    })
    await call(readRow, { id: 'two' }, options)
    expect(await call(setRows, { id: ['one', 'two', 'three'] }, options)).toMatchObject({
      ok: true,
    })
    expect(() => guards.readBeforeWrite({ read: 'r', write: [] })).toThrow(
      expect.objectContaining({ code: 'CONFIG' }),
    )
    expect(() =>
      guards.readBeforeWrite({ read: 'r', write: 'w', exists: () => true } as never),
    ).toThrow(expect.objectContaining({ code: 'CONFIG' }))
  })
})
