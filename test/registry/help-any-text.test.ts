import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readHelp, readProgramHelp } from '../../src/registry/help/read-help.ts'
import { output } from './help/truths.ts'
import { rounds } from '../support/rounds.ts'

const PIECES = [
  '-',
  '--',
  '-x',
  '--long',
  '--[no-]a',
  '[',
  ']',
  '<',
  '>',
  '{',
  '}',
  '(',
  ')',
  '|',
  '=',
  ',',
  '...',
  '  ',
  '      ',
  '\t',
  '\n',
  '\n\n',
  '\r\n',
  'usage: ',
  'Usage:',
  'or: ',
  'Options:',
  'Commands:',
  'Arguments:',
  'Examples:',
  'FILE',
  'file',
  '[default: ',
  '(default ',
  '[possible values: ',
  '"',
  "'",
  '\u001b[1m',
  '_\b',
  'x\b',
  '│',
  '╭─',
  '─╮',
  '╰',
  '+--',
  '…',
  '\u0000',
  '\ud800',
  '日本',
]

test('[6.help-any-text] no text makes it throw, and every answer has its form', () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.array(fc.constantFrom(...PIECES), { maxLength: 200 }).map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(text, (any) => {
      const { usage, description, options, positionals, commands } = readHelp(any)
      expect([typeof usage, typeof description]).toEqual(['string', 'string'])
      for (const { long, short, takesValue, valueOptional, valueName } of options) {
        expect(long.length + short.length).toBeGreaterThan(0)
        for (const name of [...long, ...short]) expect(name).toMatch(/^-/)
        if (!takesValue && !valueOptional) expect(valueName).toBeNull()
      }
      for (const { name } of [...positionals, ...commands]) expect(name).not.toBe('')
      expect(new Set(options.flatMap(({ long, short }) => [...long, ...short])).size).toBe(
        options.flatMap(({ long, short }) => [...long, ...short]).length,
      )
      readProgramHelp(any, 'any')
    }),
    { numRuns: rounds(400) },
  )
})

test('[6.help-any-text] help texts that were cut, shuffled or scribbled on are read too', async () => {
  const texts = await Promise.all(
    [
      ['git', 'branch', '-h'],
      ['tar', '--help'],
      ['find', '--help'],
      ['openssl', 'x509', '-help'],
      ['ssh'],
    ].map(async ([program, ...args]) => {
      const { stdout, stderr } = await output(program!, args)
      return stdout + stderr
    }),
  )
  fc.assert(
    fc.property(
      fc.constantFrom(...texts),
      fc.array(fc.tuple(fc.nat(), fc.constantFrom(...PIECES), fc.nat(40)), { maxLength: 30 }),
      (text, changes) => {
        const scribbled = changes.reduce(
          (now, [at, piece, gone]) =>
            now.slice(0, at % (now.length + 1)) + piece + now.slice((at % (now.length + 1)) + gone),
          text,
        )
        expect(readHelp(scribbled).options.length).toBeGreaterThan(0)
      },
    ),
    { numRuns: rounds(40) },
  )
})

// Each of these would take hours if time grew faster than the text: the time limit of the test is
// the assertion.
const GARBAGE: { readonly [name: string]: string } = {
  'one line of brackets': '['.repeat(10_000_000),
  'one line of flags': '-a '.repeat(300_000),
  'one line of blanks': `-a${' '.repeat(10_000_000)}b`,
  'unclosed defaults': `  -x  ${'[default: (default '.repeat(100_000)}`,
  'lines of flags': '  -x, --yy FILE   [default: x] and so on\n'.repeat(15_000),
  'different flags': Array.from(
    { length: 15_000 },
    (_, index) => `  --flag-${index} <value>   what it does`,
  ).join('\n'),
  'usage lines': `usage: x ${'[-a [b | (c <d> {e,f}'.repeat(100_000)}`,
  'many usages': 'usage: x [-a] <b>\n   or: x y\n'.repeat(15_000),
  headings: 'Options:\nCommands:\n'.repeat(20_000),
  commands: `Commands:\n${'  name, alias  [args...]  does it\n'.repeat(15_000)}`,
  'a description': `  -x  does\n${'      more words about it (may be repeated\n'.repeat(15_000)}`,
  frames: '+-----------------------------------\n| x |\n'.repeat(15_000),
  overstrike: '_\bx'.repeat(300_000),
  escapes: '\u001b[1;'.repeat(200_000),
  'quotes and signs': `  --x="${'\'=" : - '.repeat(100_000)}`,
}
for (const [name, text] of Object.entries(GARBAGE)) {
  test(`[6.help-any-text] megabytes of garbage end soon: ${name}`, () => {
    expect(readHelp(text)).toHaveProperty('options')
  })
}
