import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compileGlob } from '../../../src/core/files/glob.ts'
import { folderFiles, memoryFiles } from '../../../src/core/files/files.ts'
import type { Filesystem } from '../../../src/protocol/state.ts'
import { writeDisk } from './model.ts'
import { makeRoot } from './roots.ts'
import { rounds } from '../../support/rounds.ts'

const fits = (pattern: string, path: string): boolean => {
  const glob = compileGlob(pattern)
  return glob.fits(glob.advance(glob.start, path))
}

function bothOf(files: { readonly [path: string]: string }, options = {}): Filesystem[] {
  const root = makeRoot()
  writeDisk(root, new Map(Object.entries(files)))
  return [folderFiles(root, options), memoryFiles({ files }, options)].map(
    (offered) => offered.begin({ readOnly: true }).view,
  )
}

describe('patterns for paths', () => {
  test.each([
    ['*.ts', ['a.ts', '.ts'.slice(1) + '.ts'], ['a/b.ts', '.a.ts', 'a.tsx', 'ts']],
    ['**', ['a', 'a/b', 'a/b/c.d'], ['.a', 'a/.b', '.a/b']],
    ['**/*.ts', ['a.ts', 'x/a.ts', 'x/y/a.ts'], ['a.js', 'x/.y/a.ts', 'x/.a.ts']],
    ['src/**', ['src/a', 'src/b/c'], ['src', 'srca/b', 'a/src/b']],
    ['src/', ['src/a', 'src/b/c'], ['src']],
    ['a/**/b', ['a/b', 'a/x/b', 'a/x/y/b'], ['ab', 'a/xb', 'a/b/c']],
    ['a**b', ['ab', 'axb'], ['a/b']],
    ['?.md', ['a.md', '😀.md'], ['ab.md', '.md', '/.md']],
    ['{a,b/c,{d,e}f}.x', ['a.x', 'b/c.x', 'df.x', 'ef.x'], ['c.x', 'f.x', 'a,b/c.x']],
    ['**/{*.c,Make*}', ['a.c', 'x/Makefile'], ['x/a.h']],
    ['[a-c]x[!0-9]', ['axb', 'cx-'], ['dxb', 'ax1', 'ax']],
    ['[]-]', [']', '-'], ['a']],
    ['.*/x', ['.git/x'], ['git/x']],
    ['\\*\\{', ['*{'], ['a{']],
    ['./a', ['a'], ['b']],
  ] as const)('%j', (pattern, good, bad) => {
    for (const path of good) expect(fits(pattern, path), path).toBe(true)
    for (const path of bad) expect(fits(pattern, path), path).toBe(false)
  })

  test.each([
    ['{a', 'INVALID_INPUT'],
    ['[a', 'INVALID_INPUT'],
    ['', 'INVALID_INPUT'],
    ['/etc/*', 'INVALID_PATH'],
    ['a/../*', 'INVALID_PATH'],
  ])('%j is refused with an example [8.files-glob]', async (pattern, code) => {
    expect(() => compileGlob('x'.repeat(1_001))).toThrow('more than 1000 characters')
    for (const view of bothOf({}))
      await expect(view.glob(pattern)).rejects.toMatchObject({
        code,
        suggestion: { fix: expect.stringContaining('src/**/*.ts') },
      })
  })

  test('are what an expression says that is made of the same pieces, and never take long [8.files-glob]', () => {
    const piece = fc.constantFrom(
      ['a', 'a'],
      ['b', 'b'],
      ['/', '/'],
      ['*', '(?:(?<=^|/)[^./][^/]*|(?<!^|/)[^/]+|)'],
      ['?', '(?:(?<=^|/)[^./]|(?<!^|/)[^/])'],
      ['{a,bb}', '(?:a|bb)'],
      ['[ab]', '[ab]'],
    )
    const path = fc
      .array(fc.constantFrom('a', 'b', '/', '.'), { minLength: 1, maxLength: 8 })
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 6 }), path, (pieces, text) => {
        const pattern = pieces.map(([glob]) => glob).join('')
        fc.pre(
          !pattern.startsWith('/') &&
            !pattern.endsWith('/') &&
            !pattern.includes('**') &&
            !pattern.includes('//') &&
            !text.includes('//') &&
            !text.startsWith('/'),
        )
        expect(fits(pattern, text), `${pattern} on ${text}`).toBe(
          new RegExp(`^${pieces.map(([, expression]) => expression).join('')}$`).test(text),
        )
      }),
      { numRuns: rounds(500) },
    )
    expect(fits(`${'*a'.repeat(200)}b`, 'a'.repeat(2_000))).toBe(false)
    expect(fits('{a,a}'.repeat(200), 'a'.repeat(200))).toBe(true)
    expect(fits(`${'**/'.repeat(100)}b`, 'a/'.repeat(500))).toBe(false)
  })
})

describe('finding and reading', () => {
  test('lists, lines, files and found lines come in pages, by name, path and line [8.files-pages] [8.files-glob] [8.files-grep]', async () => {
    const text = Array.from(
      { length: 25 },
      (_, index) => `line ${index + 1}${index % 2 === 1 ? ' even' : ''}`,
    ).join('\r\n')
    for (const view of bothOf({
      'b/two.txt': text,
      'b-a/one.txt': 'even\n',
      'b/.hidden/x.txt': 'even',
      'b/z.bin': 'even\0',
      'c/d/e.md': '',
    })) {
      expect(await view.list('.', { limit: 2 })).toEqual({
        items: [
          { path: 'b', kind: 'folder', size: 0 },
          { path: 'b-a', kind: 'folder', size: 0 },
        ],
        total: 3,
        next: 2,
      })
      expect(await view.list('.', { offset: 2 })).toEqual({
        items: [{ path: 'c', kind: 'folder', size: 0 }],
        total: 3,
      })
      expect(await view.list('c', { offset: 7 })).toEqual({ items: [], total: 1 })
      expect((await view.glob('**')).items.map(({ path }) => path)).toEqual([
        'b-a/one.txt',
        'b/two.txt',
        'b/z.bin',
        'c/d/e.md',
      ])
      expect(await view.readLines('b/two.txt', { offset: 23, limit: 1 })).toEqual({
        items: ['line 24 even'],
        total: 25,
        next: 24,
      })
      expect(await view.readLines('c/d/e.md')).toEqual({ items: [], total: 0 })
      expect(await view.grep('even', { offset: 1, limit: 2 })).toEqual({
        items: [
          { path: 'b/two.txt', line: 2, text: 'line 2 even' },
          { path: 'b/two.txt', line: 4, text: 'line 4 even' },
        ],
        total: 13,
        next: 3,
      })
      expect(
        (await view.grep(/^line 2\d? EVEN$/gi, { glob: 'b/*.txt' })).items.map(({ line }) => line),
      ).toEqual([2, 20, 22, 24])
      expect((await view.grep('even', { glob: 'b/.hidden/*' })).total).toBe(1)
      for (const page of [{ offset: -1 }, { limit: 0 }, { offset: 1.5 }, { limit: Number.NaN }])
        for (const act of [
          () => view.list('.', page),
          () => view.readLines('b/two.txt', page),
          () => view.grep('x', page),
          () => view.glob('x', page),
        ])
          await expect(act()).rejects.toMatchObject({
            code: 'INVALID_INPUT',
            field: expect.stringMatching(/offset|limit/),
          })
      await expect(view.grep('')).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    }
  })

  test('what is too long is OUTPUT_LIMIT with advice, and can be read by lines; what is no text is not read as one [8.files-pages]', async () => {
    const lines = 'x'.repeat(39)
    for (const view of bothOf(
      { 'long.txt': `${lines}\n`.repeat(10), 'wide.txt': 'y'.repeat(200) },
      { maxBytes: 100 },
    )) {
      for (const act of [
        view.readText('long.txt'),
        view.readBytes('long.txt'),
        view.readLines('wide.txt'),
      ])
        await expect(act).rejects.toMatchObject({
          code: 'OUTPUT_LIMIT',
          recoverable: true,
          suggestion: { fix: expect.stringContaining('offset') },
        })
      expect(await view.readLines('long.txt', { offset: 4 })).toEqual({
        items: [lines, lines],
        total: 10,
        next: 6,
      })
    }
    for (const files of [folderFiles(makeRoot()), memoryFiles()]) {
      const { view } = files.begin({ readOnly: false })
      await view.write('latin1', Buffer.from([0xe4, 0x0a]))
      for (const act of [view.readText('latin1'), view.readLines('latin1')])
        await expect(act).rejects.toMatchObject({
          code: 'CONFLICT',
          message: expect.stringContaining('UTF-8'),
        })
      expect([...(await view.readBytes('latin1'))]).toEqual([0xe4, 0x0a])
      await view.write('bom', '\ufeffa')
      expect(await view.readText('bom')).toBe('\ufeffa')
      await expect(view.write('x', 7 as never)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
      // Longer than what is read at once, with characters that lie on the edges.
      const long = 'ä'.repeat(300_000)
      await view.write('edges', `${long}\n😀`)
      expect((await view.readLines('edges')).items).toEqual([long, '😀'])
      expect((await view.grep('😀')).items).toEqual([{ path: 'edges', line: 2, text: '😀' }])
    }
  })

  test('an expression that would never end is stopped, and the process lives on [8.files-grep]', async () => {
    for (const view of bothOf({ 'a.txt': `${'a'.repeat(60)}!\n` }, { maxSearchMs: 200 })) {
      await expect(view.grep(/^(a+)+$/)).rejects.toMatchObject({
        code: 'TIMEOUT',
        suggestion: { fix: expect.stringContaining('simpler expression') },
      })
      expect((await view.grep(/a!$/)).total).toBe(1)
    }
  })

  test('what a call changes while a search goes on does not change what it finds [8.files-isolated]', async () => {
    const files = memoryFiles({
      files: Object.fromEntries(
        Array.from({ length: 500 }, (_, index) => [`${index}.txt`, 'needle\n'.repeat(200)]),
      ),
    })
    const { view } = files.begin({ readOnly: false })
    const searching = view.grep('needle')
    for (let index = 0; index < 500; index += 1) await view.remove(`${index}.txt`)
    expect((await searching).total).toBe(100_000)
    expect((await view.grep('needle')).total).toBe(0)
  })
})
