import { describe, expect, test } from 'vitest'
import { tokenize } from '../../../../src/views/model/highlight.ts'
import type { CodeLanguage } from '../../../../src/views/model/highlight.ts'

const kinds = (text: string, language: CodeLanguage) =>
  tokenize(text, language)
    .filter(({ kind }) => kind !== undefined)
    .map((token) => `${token.kind} ${token.text}`)

describe('[10.form-source] source is cut into pieces that can be coloured', () => {
  test('JSON', () =>
    expect(kinds('{"a": "b: \\" c", "n": [-1.5e3, true, null]}', 'json')).toEqual([
      'key "a"',
      'string "b: \\" c"',
      'key "n"',
      'number -1.5e3',
      'word true',
      'word null',
    ]))

  test('YAML', () => {
    expect(
      kinds(
        '# all\nname: x # y\nsteps:\n  - tool: a#b\n    when: ${{ input.n }}\n    input: {n: 3, on: true, text: "a: b"}\n',
        'yaml',
      ),
    ).toEqual([
      'comment # all',
      'key name',
      'comment # y',
      'key steps',
      'key tool',
      'key when',
      'code ${{ input.n }}',
      'key input',
      'key n',
      'number 3',
      'key on',
      'word true',
      'key text',
      'string "a: b"',
    ])
  })

  test('TypeScript', () =>
    expect(
      kinds("import { a } from 'b' // c\nconst d = { e: `f` } /* g\nh */", 'typescript'),
    ).toEqual([
      'word import',
      'word from',
      "string 'b'",
      'comment // c',
      'word const',
      'key e',
      'string `f`',
      'comment /* g\nh */',
    ]))

  test.each(['json', 'yaml', 'typescript', 'text'] as const)(
    'the pieces of %s are the text',
    (language) => {
      const text = '<b onclick="x">\n"open \\\n\'`${{ # : 1.2.3 -- /* \u0000 é'
      expect(
        tokenize(text, language)
          .map((token) => token.text)
          .join(''),
      ).toBe(text)
      const long = 'a: "b" '.repeat(20_000)
      expect(tokenize(long, language)).toEqual([{ text: long }])
    },
  )
})
