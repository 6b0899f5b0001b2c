import { describe, expect, test } from 'vitest'
import { renderMarkdown } from '../../../src/cli/formats/md.ts'
import { files } from './outcomes.ts'

describe('renderMarkdown', () => {
  test('list of objects: a table', () => {
    expect(renderMarkdown(files)).toBe(
      '| path | size | tags | note |\n| --- | ---: | --- | --- |\n| src/index.ts | 12 | \\["a"\\] |  |\n| README.md | 10000 |  | read \\| me |\n',
    )
  })

  test.each([
    ['scalars: bullets', ['a', 1, true], '- a\n- 1\n- true\n'],
    [
      'object: a table of keys',
      { a: 1, b: 'x|y' },
      '| key | value |\n| --- | --- |\n| a | 1 |\n| b | x\\|y |\n',
    ],
    ['text as it is', '# Title\n\n*body*', '# Title\n\n*body*\n'],
    ['a number', 7, '7\n'],
    ['null', null, ''],
    ['empty list', [], ''],
  ])('%s', (_name, value, expected) => expect(renderMarkdown(value)).toBe(expected))

  test.each([
    ['a\nb', 'a<br>b'],
    ['`code`', '\\`code\\`'],
    ['C:\\dir\\file', 'C:\\dir\\file'],
    ['a\\|b', 'a\\\\\\|b'],
    ['a\\\nb', 'a\\\\<br>b'],
    ['snake_case_name', 'snake_case_name'],
    ['_em_ **strong**', '\\_em\\_ \\*\\*strong\\*\\*'],
    ['<script>', '\\<script\\>'],
    ['&lt; & x', '&amp;lt; & x'],
    ['\u001b[31mred', 'red'],
  ])('cell %j', (given, expected) =>
    expect(renderMarkdown([{ a: given }])).toBe(`| a |\n| --- |\n| ${expected} |\n`),
  )

  test.each([
    ['# x', '\\# x'],
    ['- x', '\\- x'],
    ['1. x', '1\\. x'],
    ['---', '\\---'],
    ['-5', '-5'],
    ['1.5', '1.5'],
  ])('bullet %j starts no block', (given, expected) => {
    expect(renderMarkdown([given])).toBe(`- ${expected}\n`)
  })
})
