import { describe, expect, test } from 'vitest'
import { getDisplayWidth } from '../../../src/cli/formats/text-layout.ts'
import { renderText } from '../../../src/cli/formats/text.ts'
import { truncateEnd, truncateMiddle } from '../../../src/cli/formats/text-layout.ts'
import { files } from './outcomes.ts'

const text = (value: unknown, columns?: number) => renderText(value, { columns, color: false })
const widest = (rendered: string) => Math.max(...rendered.split('\n').map(getDisplayWidth))

describe('renderText', () => {
  test('list of objects: a borderless table, numbers to the right', () => {
    expect(text(files)).toBe(
      [
        'path           size  tags   note',
        'src/index.ts     12  ["a"]  -',
        'README.md     10000  -      read | me',
        '',
      ].join('\n'),
    )
  })

  test('object: aligned lines, nested values as a tree', () => {
    expect(
      text({
        name: 'x',
        total: 2,
        ok: true,
        nothing: null,
        empty: [],
        nested: { a: 1, list: ['p', 'q'] },
        files,
        note: 'one\ntwo\n',
      }),
    ).toBe(
      [
        'name     x',
        'total    2',
        'ok       true',
        'nothing  -',
        'empty    (none)',
        'nested',
        '  a  1',
        '  list',
        '    - p',
        '    - q',
        'files',
        '  path           size  tags   note',
        '  src/index.ts     12  ["a"]  -',
        '  README.md     10000  -      read | me',
        'note',
        '  one',
        '  two',
        '',
      ].join('\n'),
    )
  })

  test.each([
    ['a string as it is', 'a\n\tb', 'a\n\tb\n'],
    ['a string that ends itself', 'a\n', 'a\n'],
    ['scalars one per line', ['a', 1, true, null], 'a\n1\ntrue\n-\n'],
    ['mixed lists one per line', [{ a: 1 }, 'b', [1, 2]], '{"a":1}\nb\n[1,2]\n'],
    ['a boolean', false, 'false\n'],
    ['zero', 0, '0\n'],
    ['nothing', undefined, ''],
    ['null', null, ''],
    ['an empty list', [], ''],
    ['empty objects', [{}, {}], '{}\n{}\n'],
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z\n'],
  ])('%s', (_name, value, expected) => expect(text(value)).toBe(expected))

  test('a newline inside a cell is shown, not made', () => {
    expect(text([{ a: 'x\ny', b: 'p\tq' }])).toBe('a    b\nx⏎y  p q\n')
  })

  test('on a terminal columns are cut to the width: paths in the middle, text at the end', () => {
    const rows = [
      {
        path: '/home/somebody/projects/toolable/src/index.ts',
        note: 'a sentence that goes on for longer than it should',
        size: 123456,
      },
    ]
    expect(text(rows, 60)).toBe(
      [
        'path                       note                         size',
        '/home/som…le/src/index.ts  a sentence that goes on …  123456',
        '',
      ].join('\n'),
    )
    expect(widest(text(rows, 60))).toBeLessThanOrEqual(60)
    expect(text(rows)).toContain(rows[0]!.path)
  })

  test('too many columns: one block per record', () => {
    expect(
      text(
        [
          {
            identifier: 'abcdefghijk',
            path: '/a/very/long/path/file.ts',
            description: 'long text here',
          },
          { identifier: 'x', path: 'y' },
        ],
        30,
      ),
    ).toBe(
      [
        'identifier   abcdefghijk',
        'path         /a/ver…th/file.ts',
        'description  long text here',
        '',
        'identifier   x',
        'path         y',
        '',
      ].join('\n'),
    )
  })

  test.each([20, 40])('nothing is wider than %i columns', (columns) => {
    const rows = [
      {
        path: '/'.padEnd(300, 'x/'),
        wide: '漢字'.repeat(40),
        emoji: '👩‍👩‍👧‍👦'.repeat(20),
        size: 12345,
        a_rather_long_key_name_here: { nested: ['value'] },
      },
      { path: 'a', wide: 'e\u0301'.repeat(50), emoji: '🇩🇪', size: 1 },
    ]
    expect(widest(text(rows, columns))).toBeLessThanOrEqual(columns)
    expect(
      widest(
        text(
          rows.map(({ path, size }) => ({ path, size })),
          columns,
        ),
      ),
    ).toBeLessThanOrEqual(columns)
  })

  test('forty thousand rows are drawn', () => {
    const rows = Array.from({ length: 40_000 }, (_, index) => ({
      path: `src/folder-${index}/file.ts`,
      size: index,
      name: `名前 ${index}`,
      tags: ['a', index],
    }))
    expect(text(rows, 80).split('\n')).toHaveLength(40_002)
  })

  test('one huge cell does not pad every other row', () => {
    const rows = [
      { a: 'x'.repeat(1_000_000), b: 1 },
      ...Array.from({ length: 1000 }, () => ({ a: 'y', b: 2 })),
    ]
    const rendered = text(rows)
    expect(rendered).toContain('x'.repeat(1_000_000))
    expect(rendered.length).toBeLessThan(1_500_000)
  })

  test('rows without a common key do not make a square', () => {
    const rendered = text(Array.from({ length: 5000 }, (_, index) => ({ [`key${index}`]: index })))
    expect(rendered.split('\n').slice(0, 3)).toEqual(['key0     0', '', 'key1     1'])
    expect(rendered.length).toBeLessThan(200_000)
  })

  test('deep nesting ends in JSON', () => {
    let deep: unknown = 1
    for (let level = 0; level < 300; level++) deep = { deeper: deep }
    expect(text(deep).split('\n').length).toBeLessThan(20)
    for (let level = 0; level < 100_000; level++) deep = { deeper: deep }
    expect(text(deep)).toContain('nested too deeply')
  })
})

describe('displayWidth', () => {
  test.each([
    ['abc', 3],
    ['', 0],
    ['漢字', 4],
    ['ｆｕｌｌ', 8],
    ['한글', 4],
    ['\u1112\u1161\u11ab', 2],
    ['e\u0301', 1],
    ['👍', 2],
    ['👍🏽', 2],
    ['👩‍👩‍👧‍👦', 2],
    ['🇩🇪', 2],
    ['🇩🇪🇫🇷', 4],
    ['❤️', 2],
    ['❤', 1],
    ['1️⃣', 2],
    ['a\u200bb', 2],
    ['שלום', 4],
    ['\ud800', 1],
    ['…', 1],
    ['क्‍ष', 2],
  ])('%s takes %i columns', (value, width) => expect(getDisplayWidth(value)).toBe(width))
})

describe('truncation', () => {
  test('keeps within the width and never splits what belongs together', () => {
    expect(truncateEnd('漢字漢字', 5)).toBe('漢字…')
    expect(truncateEnd('漢字漢字', 4)).toBe('漢…')
    expect(truncateEnd('a👩‍👩‍👧‍👦b', 3)).toBe('a…')
    expect(truncateEnd('abc', 3)).toBe('abc')
    expect(truncateEnd('abc', 0)).toBe('')
    expect(truncateMiddle('/aaa/bbb/ccc.ts', 11)).toBe('/aaa…ccc.ts')
    expect(truncateMiddle('/漢字漢字漢字/ファイル', 9)).toBe('/漢…イル')
  })
})
