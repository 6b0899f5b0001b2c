import { readFileSync, writeFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fileTools } from '../../../src/core/files/file-tools.ts'
import type { FileToolName } from '../../../src/core/files/file-tools.ts'
import { folderFiles, memoryFiles } from '../../../src/core/files/files.ts'
import { guards } from '../../../src/core/guards/guards.ts'
import { createState } from '../../../src/core/state/state.ts'
import { call, getDefinition, tool } from '../../../src/core/tool.ts'
import type { CallOptions } from '../../../src/core/call.ts'
import type { Outcome } from '../../../src/protocol/outcome.ts'
import { readDisk, sorted } from './model.ts'
import { makeRoot } from './roots.ts'

const tools = new Map(fileTools().map((one) => [getDefinition(one).name, one]))

function workOn(options: CallOptions): (name: FileToolName, input?: object) => Promise<Outcome> {
  return (name, input) => call(tools.get(name)!, input, options)
}

describe('file tools', () => {
  test('let a model read, write, edit, list, find, search, move and remove, and each call is kept or rolled back as a whole [8.files-tools]', async () => {
    const root = makeRoot()
    const act = workOn({ state: createState({ filesystem: folderFiles(root) }) })
    expect(
      await act('write_file', { path: 'src/a.ts', content: 'one\ntwo\nthree\n' }),
    ).toMatchObject({ ok: true, result: { path: 'src/a.ts', bytes: 14, created: true } })
    expect(await act('write_file', { path: 'src/b.ts', content: 'TWO' })).toMatchObject({
      ok: true,
    })
    expect(await act('read_file', { path: 'src/a.ts', offset: 1, limit: 1 })).toMatchObject({
      ok: true,
      result: { path: 'src/a.ts', line: 2, text: 'two', total: 3, next: 2 },
    })
    expect(await act('edit_file', { path: 'src/a.ts', old: 'two\n', new: 'zwei\n' })).toMatchObject(
      { ok: true, result: { replaced: 1, lines: [2] } },
    )
    expect(await act('list_files')).toMatchObject({
      ok: true,
      result: { entries: [{ path: 'src', kind: 'folder', size: 0 }], total: 1 },
    })
    expect(await act('find_files', { pattern: '**/*.ts', limit: 1 })).toMatchObject({
      ok: true,
      result: { entries: [{ path: 'src/a.ts', kind: 'file', size: 15 }], total: 2, next: 1 },
    })
    expect(await act('search_files', { pattern: 'two', ignore_case: true })).toMatchObject({
      ok: true,
      result: { lines: [{ path: 'src/b.ts', line: 1, text: 'TWO' }], total: 1 },
    })
    expect(await act('search_files', { pattern: '^.w', regex: true, glob: 'src/*' })).toMatchObject(
      { ok: true, result: { lines: [{ path: 'src/a.ts', line: 2, text: 'zwei' }], total: 1 } },
    )
    expect(await act('search_files', { pattern: '(', ignore_case: true })).toMatchObject({
      ok: true,
      result: { total: 0 },
    })
    expect(await act('search_files', { pattern: '(', regex: true })).toMatchObject({
      ok: false,
      error: { code: 'INVALID_INPUT', field: 'pattern' },
    })
    expect(await act('move_file', { path: 'src', to: 'lib/src' })).toMatchObject({ ok: true })
    expect(await act('remove_file', { path: 'lib' })).toMatchObject({
      ok: false,
      error: { code: 'CONFLICT' },
    })
    expect(await act('remove_file', { path: 'lib/src/b.ts' })).toMatchObject({ ok: true })
    expect(sorted(readDisk(root))).toEqual([
      ['lib', null],
      ['lib/src', null],
      ['lib/src/a.ts', 'one\nzwei\nthree\n'],
    ])
    const fails = tool({
      name: 'fails',
      summary: 'Writes, then fails',
      run: async (_input, ctx) => {
        await ctx.filesystem.write('lib/src/a.ts', 'half')
        await ctx.filesystem.remove('lib', { recursive: true })
        throw new Error('no')
      },
    })
    const state = createState({ filesystem: folderFiles(root) })
    expect(await call(fails, {}, { state })).toMatchObject({ ok: false })
    expect(sorted(readDisk(root))).toEqual([
      ['lib', null],
      ['lib/src', null],
      ['lib/src/a.ts', 'one\nzwei\nthree\n'],
    ])
    // A subscriber that fails comes after the commit, and takes it back.
    expect(
      await call(
        tools.get('write_file')!,
        { path: 'new.txt', content: 'x' },
        {
          state,
          onEvent: (event) => {
            if (event.type === 'tool_invoked') throw new Error('no')
          },
        },
      ),
    ).toMatchObject({ ok: false })
    expect(sorted(readDisk(root))).toHaveLength(3)
  })

  test('say which path or text was meant [8.files-tools-advice]', async () => {
    const act = workOn({
      state: createState({
        filesystem: memoryFiles({
          files: { 'src/server/index.ts': 'if (a) {\n  run()\n  run()\n}\r\n', 'readme.md': '' },
        }),
      }),
    })
    expect(await act('read_file', { path: 'src/servr/index.ts' })).toMatchObject({
      ok: false,
      error: {
        code: 'NOT_FOUND',
        message: expect.stringContaining("did you mean 'src/server/index.ts'?"),
        suggestion: { example: 'src/server/index.ts' },
      },
    })
    expect(await act('read_file', { path: 'index.ts' })).toMatchObject({
      error: { suggestion: { example: 'src/server/index.ts' } },
    })
    expect(await act('move_file', { path: 'README.md', to: 'x' })).toMatchObject({
      error: { suggestion: { example: 'readme.md' } },
    })
    expect(await act('read_file', { path: 'nothing/like/it' })).toMatchObject({
      error: { code: 'NOT_FOUND', message: "there is no 'nothing/like/it'" },
    })
    const path = 'src/server/index.ts'
    expect(await act('edit_file', { path, old: 'run()', new: 'go()' })).toMatchObject({
      error: {
        code: 'CONFLICT',
        message: expect.stringContaining('stands 2 times'),
        details: { lines: [2, 3] },
        suggestion: { fix: expect.stringContaining("'all'") },
      },
    })
    expect(await act('edit_file', { path, old: '    run()\n  run( )', new: 'x' })).toMatchObject({
      error: {
        code: 'NOT_FOUND',
        message: expect.stringContaining('line 2 is like'),
        suggestion: { fix: expect.stringContaining('read_file {"path":"src/server/index.ts"') },
      },
    })
    expect(await act('edit_file', { path, old: 'x', new: 'x' })).toMatchObject({
      error: { code: 'INVALID_INPUT', field: 'new' },
    })
    expect(await act('edit_file', { path, old: 'run()', new: '$&', all: true })).toMatchObject({
      ok: true,
      result: { replaced: 2 },
    })
    expect(await act('read_file', { path })).toMatchObject({
      result: { text: 'if (a) {\n  $&\n  $&\n}' },
    })
    await act('write_file', { path: 'dos.txt', content: 'a\r\nb\r\nc\r\n' })
    expect(await act('edit_file', { path: 'dos.txt', old: 'a\nb', new: 'A\nB' })).toMatchObject({
      ok: true,
    })
    expect(await act('search_files', { pattern: 'B\r' })).toMatchObject({ result: { total: 0 } })
    expect(await act('edit_file', { path: 'dos.txt', old: 'A\r\nB\r\nc', new: 'x' })).toMatchObject(
      { ok: true },
    )
  })

  test('work with read before write, tell what is dangerous, and without files of the state say what to do [8.files-tools-advice]', async () => {
    const root = makeRoot()
    mkdirSync(join(root, 'd'))
    writeFileSync(join(root, 'd/old.txt'), 'old')
    const act = workOn({
      state: createState({ filesystem: folderFiles(root) }),
      guards: [
        guards.readBeforeWrite({
          read: 'read_file',
          write: ['write_file', 'edit_file', 'remove_file', 'move_file'],
        }),
      ],
    })
    for (const [name, more] of [
      ['write_file', { content: 'x' }],
      ['edit_file', { old: 'old', new: 'x' }],
      ['remove_file', {}],
      ['move_file', { to: 'x' }],
    ] as const) {
      expect(await act(name, { path: './d/old.txt', ...more })).toMatchObject({
        ok: false,
        error: { code: 'PRECONDITION', suggestion: { fix: expect.stringContaining('read_file') } },
      })
    }
    expect(await act('write_file', { path: 'd/new.txt', content: 'new' })).toMatchObject({
      ok: true,
    })
    expect(await act('read_file', { path: 'd/old.txt' })).toMatchObject({ ok: true })
    expect(await act('edit_file', { path: 'd/old.txt', old: 'old', new: 'changed' })).toMatchObject(
      { ok: true },
    )
    expect(readFileSync(join(root, 'd/old.txt'), 'utf8')).toBe('changed')

    expect(await call(tools.get('remove_file')!, { path: 'd' }, { confirm: false })).toMatchObject({
      ok: false,
      error: { code: 'CONFIRMATION_REQUIRED' },
    })
    expect(await call(tools.get('read_file')!, { path: 'd' }, {})).toMatchObject({
      ok: false,
      error: { code: 'CONFIG', suggestion: { fix: expect.stringContaining('folderFiles') } },
    })
    expect(
      [...tools].map(([name, one]) => [
        name,
        getDefinition(one).annotations.readOnly === true,
        getDefinition(one).annotations.destructive === true,
      ]),
    ).toEqual([
      ['read_file', true, false],
      ['write_file', false, false],
      ['edit_file', false, false],
      ['list_files', true, false],
      ['find_files', true, false],
      ['search_files', true, false],
      ['remove_file', false, true],
      ['move_file', false, false],
    ])
    expect(fileTools({ readOnly: true }).map((one) => getDefinition(one).name)).toEqual([
      'read_file',
      'list_files',
      'find_files',
      'search_files',
    ])
    expect(
      fileTools({ only: ['move_file', 'read_file'] }).map((one) => getDefinition(one).name),
    ).toEqual(['read_file', 'move_file'])
    expect(() => fileTools({ only: ['cat' as never] })).toThrow("there is no file tool 'cat'")
  })

  test('calls of one state that run beside each other lose nothing: what meets is a conflict, and the retry succeeds [8.files-conflict] [8.files-turns]', async () => {
    const files = folderFiles(makeRoot())
    const state = createState({ filesystem: files })
    const increment = tool({
      name: 'increment',
      summary: 'Adds one',
      run: async (_input, ctx) => {
        const before = (await ctx.filesystem.stat('n'))
          ? Number(await ctx.filesystem.readText('n'))
          : 0
        await new Promise((resolve) => {
          setImmediate(resolve)
        })
        await ctx.filesystem.write('n', String(before + 1))
      },
    })
    let conflicts = 0
    await Promise.all(
      Array.from({ length: 6 }, async () => {
        for (;;) {
          const outcome = await call(increment, {}, { state })
          if (outcome.ok) return
          expect(outcome.error).toMatchObject({ code: 'CONFLICT', retryable: true })
          conflicts += 1
        }
      }),
    )
    expect(await state.filesystem.readText('n')).toBe('6')
    expect(conflicts).toBeGreaterThan(0)
  })
})
