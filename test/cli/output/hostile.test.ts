import { decode } from '@toon-format/toon'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { formatOutcome } from '../../../src/cli/output.ts'
import { cleanLine, cleanText } from '../../../src/cli/formats/terminal-text.ts'
import {
  formatNotificationJson,
  formatNotificationText,
} from '../../../src/cli/formats/envelope.ts'
import { failure, success } from './outcomes.ts'
import { rounds } from '../../support/rounds.ts'

const STEERING = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/
const nasty = [
  '\u001b[31m',
  '\u001b]8;;http://evil\u0007',
  '\u009b2J',
  '\u001b',
  '\r',
  '\u0007',
  '\b',
  '\u202e',
  '\u2066',
  '\n',
  '\t',
  'a',
  '漢',
  '👩‍👧',
  'שלום',
  '"',
  '|',
  '\\',
  ':',
  '- ',
  '#',
  "'",
  ' ',
  '\u2028',
  '\u0085',
  '[',
  'm',
]
const text = fc.array(fc.constantFrom(...nasty), { maxLength: 12 }).map((parts) => parts.join(''))
const value = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(text, tie('tree'), { maxKeys: 4 }),
  ),
})).tree

describe('cleaning', () => {
  test.each([
    ['colours go', '\u001b[1;31mred\u001b[0m', 'red'],
    ['links go', '\u001b]8;;http://evil\u0007text\u001b]8;;\u001b\\', 'text'],
    ['titles go', '\u001b]0;pwned\u0007x', 'x'],
    ['8-bit sequences go', '\u009b2Jx\u009d0;t\u009cy', 'xy'],
    ['a lone escape is shown', 'a\u001bZ', 'a\\x1bZ'],
    ['halves do not join', '\u001b\u001b[0m[31mx', '\\x1b[31mx'],
    ['a carriage return is shown', 'safe\revil', 'safe\\revil'],
    ['Windows line ends are line ends', 'a\r\nb', 'a\nb'],
    ['bell and backspace are shown', 'a\u0007b\b', 'a\\x07b\\x08'],
    ['bidi overrides are shown', 'user\u202etxt.exe\u2066', 'user\\u202etxt.exe\\u2066'],
    ['ordinary right-to-left text stays', 'שלום عالم', 'שלום عالم'],
  ])('%s', (_name, given, expected) => expect(cleanText(given)).toBe(expected))

  test('a line is one line', () => expect(cleanLine('a\r\nb\u2028c\td')).toBe('a⏎b\\u2028c d'))

  test('unterminated sequences take linear time', () => {
    cleanText('\u001b]'.repeat(200_000))
    cleanText(`\u001b[${'1'.repeat(500_000)}`)
    cleanText('\u001b['.repeat(200_000))
  })
})

describe('nothing that a tool says steers the terminal', () => {
  const modes = ['json', 'jsonl', 'yaml', 'toon', 'text', 'md'] as const

  test('results, messages and warnings, in every mode and width', async () => {
    await fc.assert(
      fc.asyncProperty(
        value,
        text,
        fc.constantFrom(...modes),
        fc.constantFrom(undefined, 20, 80),
        async (result, message, mode, columns) => {
          const outcome = success(result, {
            message,
            meta: { tool: 't', duration_ms: 1, warnings: [message], next_cursor: message },
          })
          const { stdout, stderr } = await formatOutcome(outcome, { mode, columns, color: false })
          expect(stdout + stderr).not.toMatch(STEERING)
          expect(stdout + stderr).not.toContain('\r')
        },
      ),
      { numRuns: rounds(300) },
    )
  })

  test('csv on a terminal', async () => {
    await fc.assert(
      fc.asyncProperty(value, async (result) => {
        const { stdout } = await formatOutcome(success(result), { mode: 'csv', columns: 80 })
        expect(stdout).not.toMatch(STEERING)
      }),
      { numRuns: rounds(100) },
    )
  })

  test('failures', async () => {
    await fc.assert(
      fc.asyncProperty(text, value, async (said, detail) => {
        const error = {
          ...failure.error,
          message: said,
          field: said,
          code: said,
          details: { [said]: detail, issues: [{ path: [said], message: said }] },
          suggestion: { ...failure.error.suggestion!, fix: said },
        }
        const { stderr } = await formatOutcome(
          { ...failure, error },
          { mode: 'text', renderInput: () => said },
        )
        expect(stderr).not.toMatch(STEERING)
        expect(stderr).not.toContain('\r')
      }),
      { numRuns: rounds(100) },
    )
  })

  test('notifications', () => {
    fc.assert(
      fc.property(text, (said) => {
        for (const event of [
          { type: 'progress', message: said },
          { type: 'log', level: 'info', message: said },
          { type: 'artifact', name: said, uri: said },
        ] as const) {
          expect(formatNotificationJson(event)).not.toMatch(STEERING)
          expect(formatNotificationText(event)).not.toMatch(STEERING)
        }
      }),
    )
  })
})

describe('the documents say exactly what the result was', () => {
  test.each([
    ['json', JSON.parse],
    ['yaml', parse],
    ['toon', decode],
  ] as const)('%s', async (mode, read) => {
    await fc.assert(
      fc.asyncProperty(value, async (result) => {
        const { stdout } = await formatOutcome(success(result), { mode })
        expect((read(stdout) as { result: unknown }).result).toEqual(
          JSON.parse(JSON.stringify(result)),
        )
      }),
      { numRuns: rounds(300) },
    )
  })

  test('an unpaired surrogate is no reason to fail', async () => {
    for (const mode of ['json', 'yaml', 'toon', 'text', 'md', 'csv'] as const) {
      expect((await formatOutcome(success({ 'k\ud800': 'a\udc00b' }), { mode })).stdout).not.toBe(
        '',
      )
    }
  })
})
