import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import {
  escapeCommandPlaceholders,
  formatFence,
  formatFrontmatter,
  formatJsonBlock,
  tidyLine,
  tidyText,
  toCode,
  toInline,
  toParagraph,
  toParagraphs,
  toSafeJson,
  truncateText,
} from '../../../src/docs/markdown.ts'
import { quoteForShell } from '../../../src/util/text.ts'
import { nasty } from './hostile.ts'
import { readMarkdown } from './markdown-tree.ts'
import { rounds } from '../../support/rounds.ts'

const line = nasty(10).map(tidyLine)
const LIVE = /!`|\$(?:ARGUMENTS|\d|\{)/
const withoutTicks = (text: string): string => text.replaceAll('`', '')

describe('Markdown means what the author wrote', () => {
  test('a line of text', () => {
    fc.assert(
      fc.property(line, (text) => {
        const page = toParagraph(text)
        const found = readMarkdown(page)
        expect(withoutTicks(found.text)).toBe(withoutTicks(text))
        expect({ ...found, text: '' }).toEqual({
          headings: [],
          html: [],
          blocks: [],
          links: [],
          images: 0,
          rules: 0,
          text: '',
        })
        expect(page).not.toMatch(LIVE)
      }),
      { numRuns: rounds(1000) },
    )
  })

  test('a line in a list', () => {
    fc.assert(
      fc.property(line, (text) => {
        const found = readMarkdown(`- ${toCode('x')}: ${toInline(text)}`)
        expect(withoutTicks(found.text).trimEnd()).toBe(`x: ${withoutTicks(text)}`.trimEnd())
        expect(found.html).toEqual([])
      }),
      { numRuns: rounds(500) },
    )
  })

  test('paragraphs', () => {
    fc.assert(
      fc.property(nasty(12).map(tidyText), (text) => {
        const found = readMarkdown(toParagraphs(text))
        expect(withoutTicks(found.text).replace(/\s/g, '')).toBe(
          withoutTicks(text).replace(/\s/g, ''),
        )
        expect({ ...found, text: '' }).toEqual({
          headings: [],
          html: [],
          blocks: [],
          links: [],
          images: 0,
          rules: 0,
          text: '',
        })
      }),
      { numRuns: rounds(500) },
    )
  })

  test('code, in a line and in a block', () => {
    fc.assert(
      fc.property(line, nasty(10).map(tidyText), (text, block) => {
        expect(readMarkdown(`a ${toCode(text)} b`).text).toBe(text === '' ? 'a  b' : `a ${text} b`)
        expect(toCode(text)).not.toMatch(LIVE)
        expect(readMarkdown(formatFence('bash', block)).blocks).toEqual([
          { info: 'bash', text: block === '' ? '\n' : `${block}\n` },
        ])
      }),
      { numRuns: rounds(500) },
    )
  })

  test('what looks like code stays code, and emphasis is shown as it was written', () => {
    expect(toInline('Use `--all` or *nothing*, not <b>')).toBe(
      'Use `--all` or \\*nothing\\*, not \\<b\\>',
    )
    expect(toInline('snake_case and _this_, C:\\dir\\*.txt')).toBe(
      'snake_case and \\_this\\_, C:\\dir\\\\\\*.txt',
    )
    expect(toParagraph('1. first')).toBe('1\\. first')
  })
})

describe('nothing is taken for an order by a loader of skills', () => {
  test('commands are pasted as the same words', () => {
    expect(
      escapeCommandPlaceholders(`prog ${quoteForShell('a !`date` $1 ${HOME} $ARGUMENTS')}`),
    ).toBe("prog 'a !''`date` $''1 $''{HOME} $''ARGUMENTS'")
    expect(toCode('Hello!')).toBe('` Hello! `')
    expect(toInline('Wow!`date`')).toBe('Wow&#33;`date`')
    expect(toInline('costs $5')).toBe('costs &#36;5')
    expect(toInline('@AGENTS.md, mail a@b.c')).toBe('\\@AGENTS.md, mail a@b.c')
  })

  test('JSON is parsed as the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), nasty(8), (value, text) => {
        const json = toSafeJson([value, text])
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify([value, text])))
        expect(json).not.toMatch(LIVE)
        expect(readMarkdown(formatJsonBlock([text])).blocks).toHaveLength(1)
      }),
      { numRuns: rounds(300) },
    )
  })
})

describe('the head of a page', () => {
  test('is read back as the same by every version of YAML', () => {
    fc.assert(
      fc.property(
        line,
        fc.constantFrom('on', 'no', 'null', '12', 'a-b', 'true', '1:30', 'name'),
        (text, word) => {
          const head = formatFrontmatter({
            name: word,
            description: text,
            flag: true,
            missing: undefined,
            metadata: { version: text },
          })
          const yaml = head.replace(/^---\n|---\n$/g, '')
          for (const version of ['1.1', '1.2'] as const)
            expect(parse(yaml, { version })).toEqual({
              name: word,
              description: text,
              flag: true,
              metadata: { version: text },
            })
          expect(head.split('\n')).toHaveLength(8)
        },
      ),
      { numRuns: rounds(500) },
    )
  })
})

test('a text is cut between words, or at least between characters', () => {
  fc.assert(
    fc.property(nasty(20).map(tidyLine), fc.integer({ min: 10, max: 100 }), (text, most) => {
      const cut = truncateText(text, most)
      expect(cut.length).toBeLessThanOrEqual(most)
      expect(cut).not.toMatch(/\p{Surrogate}/u)
      if (text.length <= most) expect(cut).toBe(text)
      else expect(text.startsWith(cut.slice(0, -1))).toBe(true)
    }),
    { numRuns: rounds(500) },
  )
  expect(truncateText('one two three four', 12)).toBe('one two…')
  expect(truncateText('這是一個沒有空格的句子而且很長', 8)).toMatch(/^這是一.*…$/)
})
