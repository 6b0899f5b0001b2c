import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { replaceBlock } from '../../../src/docs/check-files.ts'
import { writeAgentsBlock } from '../../../src/docs/kinds/agents-block.ts'
import { buildDocModel, getBlockMarks } from '../../../src/docs/model.ts'
import { hostileProgram, largeProgram, nasty } from './hostile.ts'
import { readMarkdown } from './markdown-tree.ts'
import { rounds } from '../../support/rounds.ts'

const { begin, end } = getBlockMarks('prog')
const block = `${begin}\nnew\n${end}\n`
const replace = (text: string): string => replaceBlock(text, block, 'prog', 'AGENTS.md')

describe('a block in a file that people also write', () => {
  test.each([
    ['an empty file', '', block],
    ['text', 'mine\n', `mine\n\n${block}`],
    ['text that ends in an empty line', 'mine\n\n', `mine\n\n${block}`],
    ['text without a line end', 'mine', `mine\n\n${block}`],
    [
      'text of Windows',
      'mine\r\nmore\r\n',
      `mine\r\nmore\r\n\r\n${block.replaceAll('\n', '\r\n')}`,
    ],
    ['text with a byte order mark', '\ufeffmine\n', `\ufeffmine\n\n${block}`],
    ['a byte order mark alone', '\ufeff', `\ufeff${block}`],
    [
      'the block of another program',
      '<!-- toolable:prog-2 begin -->\nx\n<!-- toolable:prog-2 end -->\n',
      `<!-- toolable:prog-2 begin -->\nx\n<!-- toolable:prog-2 end -->\n\n${block}`,
    ],
    [
      'words about marks',
      `Between \`${begin}\` and so on\n`,
      `Between \`${begin}\` and so on\n\n${block}`,
    ],
  ])('goes behind %s', (_what, before, after) => {
    expect(replace(before)).toBe(after)
    expect(replace(after)).toBe(after)
  })

  test.each([
    ['between text', `a\n\n${begin}\nold\nold\n${end}\nb`, `a\n\n${block}b`],
    ['at the very end', `a\n${begin}\nold\n${end}`, `a\n${block.trimEnd()}`],
    [
      'with spaces around its marks',
      `  ${begin} \nold\n\t${end}\t\nb\n`,
      `  ${begin}\nnew\n${end}\t\nb\n`,
    ],
    [
      'with line ends of Windows',
      `a\r\n${begin}\r\nold\r\n${end}\r\nb`,
      `a\r\n${begin}\r\nnew\r\n${end}\r\nb`,
    ],
    ['behind a byte order mark', `\ufeff${begin}\nold\n${end}\n`, `\ufeff${block}`],
  ])('replaces the old one %s', (_where, before, after) => {
    expect(replace(before)).toBe(after)
    expect(replace(after)).toBe(after)
  })

  test.each([
    ['no end', `a\n${begin}\nb\n`, 'begin in line 2'],
    ['no begin', `${end}\n`, 'end in line 1'],
    [
      'two blocks',
      `${begin}\n${end}\n${begin}\n${end}\n`,
      'begin in line 1, end in line 2, begin in line 3, end in line 4',
    ],
    ['the wrong order', `${end}\n${begin}\n`, 'end in line 1, begin in line 2'],
    [
      'a mark that was edited',
      `${begin}\n<!-- toolable:prog end\n`,
      'begin in line 1, a damaged end in line 2',
    ],
    [
      'a mark without its spaces',
      `<!--toolable:prog begin-->\n${end}\n`,
      'a damaged begin in line 1, end in line 2',
    ],
    ['text behind a mark', `${begin} hello\n${end}\n`, 'a damaged begin in line 1, end in line 2'],
  ])('refuses a file with %s and says where', (_what, text, lines) => {
    expect(() => replace(text)).toThrow(
      `the marks of prog in AGENTS.md are not one pair of begin and end (${lines}), so the file was left alone`,
    )
  })

  test('everything else stays byte for byte, whatever the text around it and in it', () => {
    fc.assert(
      fc.property(nasty(10), nasty(10), hostileProgram(0, 2), (before, after, manifest) => {
        const name = manifest.name === 'prog' ? 'prog-x' : manifest.name
        const [{ text } = { text: '' }] = writeAgentsBlock(
          buildDocModel({ ...manifest, name }),
          'AGENTS.md',
        )
        const once = replaceBlock(before, text, name, 'f')
        expect(once.startsWith(before)).toBe(true)
        const placed = `${once}${after.replace(/^[^\n]*/, '')}`
        const changed = replaceBlock(placed, text.replace('## ', '## new '), name, 'f')
        expect(replaceBlock(changed, text, name, 'f')).toBe(placed)
        expect(changed).not.toBe(placed)
      }),
      { numRuns: rounds(200) },
    )
  })
})

describe('the text of a block [5.docs]', () => {
  test('is the same in both files, and short whatever the program is', () => {
    for (const count of [1, 20, 200]) {
      for (const text of ['Ü'.repeat(150), '`*<!'.repeat(30)]) {
        const model = buildDocModel(largeProgram(count, { tags: count, text }))
        const [agents] = writeAgentsBlock(model, 'AGENTS.md')
        expect(agents).toEqual({ ...writeAgentsBlock(model, 'CLAUDE.md')[0], path: 'AGENTS.md' })
        expect(Buffer.byteLength(agents!.text)).toBeLessThanOrEqual(4000)
      }
    }
  })

  test('has no other marks and no other HTML', () => {
    fc.assert(
      fc.property(hostileProgram(0, 3), (manifest) => {
        const [{ text } = { text: '' }] = writeAgentsBlock(buildDocModel(manifest), 'AGENTS.md')
        const marks = getBlockMarks(manifest.name)
        expect(text.split('\n').filter((line) => line.includes('<!-- toolable:'))).toEqual([
          marks.begin,
          marks.end,
        ])
        const html = readMarkdown(text).html.join('\n')
        expect(html.split('\n').filter((line) => line !== '')).toEqual([
          marks.begin,
          expect.stringMatching(/^<!-- Generated, .* -->$/),
          marks.end,
        ])
      }),
      { numRuns: rounds(100) },
    )
  })
})
