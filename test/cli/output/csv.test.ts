import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { renderCsv } from '../../../src/cli/formats/csv.ts'
import { files } from './outcomes.ts'

describe('renderCsv', () => {
  test('list of objects: union of keys, nested values as JSON', () => {
    expect(renderCsv(files)).toBe(
      'path,size,tags,note\r\nsrc/index.ts,12,"[""a""]",\r\nREADME.md,10000,,read | me\r\n',
    )
  })

  test.each([
    ['list of scalars', ['a', 1, null, ''], 'value\r\na\r\n1\r\n""\r\n""\r\n'],
    ['mixed list', [{ a: 1 }, 'b'], 'a,value\r\n1,\r\n,b\r\n'],
    ['object: one row', { a: 1, b: { c: [2] } }, 'a,b\r\n1,"{""c"":[2]}"\r\n'],
    ['scalar: one cell', 'x,"y"\nz', '"x,""y""\nz"\r\n'],
    ['null', null, ''],
    ['empty list', [], ''],
    ['formulas stay what they are', [{ a: '=1+1' }], 'a\r\n=1+1\r\n'],
  ])('%s', (_name, value, expected) => expect(renderCsv(value)).toBe(expected))

  test('a reader gets every value back', () => {
    const cell = fc.string({
      unit: fc.constantFrom('a', ',', '"', '\n', '\r', ' ', '漢', '\u001b'),
    })
    fc.assert(
      fc.property(
        fc.uniqueArray(cell, { minLength: 1, maxLength: 4 }),
        fc.array(fc.array(cell, { minLength: 4, maxLength: 4 }), { minLength: 1 }),
        (keys, grid) => {
          const rows = grid.map((cells) =>
            Object.fromEntries(keys.map((key, index) => [key, cells[index]])),
          )
          expect(parseCsv(renderCsv(rows))).toEqual([
            keys,
            ...grid.map((cells) => cells.slice(0, keys.length)),
          ])
        },
      ),
    )
  })
})

function parseCsv(text: string): string[][] {
  const rows: string[][] = [[]]
  const fields = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy
  for (let match = fields.exec(text); match; match = fields.exec(text)) {
    rows.at(-1)!.push(match[1] === undefined ? match[2]! : match[1].replaceAll('""', '"'))
    if (match[3] === '\r\n') rows.push([])
    if (fields.lastIndex === text.length) break
  }
  expect(rows.pop()).toEqual([])
  return rows
}
