import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { quoteForShell } from '../../../src/util/text.ts'
import { ToolError } from '../../../src/protocol/tool-error.ts'
import { interpolateCommand } from '../../../src/workflow/expressions.ts'
import { scopeOf } from './scope.ts'
import { rounds } from '../../support/rounds.ts'

const scope = scopeOf({
  input: { name: 'a b; rm -rf "$HOME"', n: 3, list: [1, 'x y'], none: null, quote: "'" },
})

describe('commands [9.commands]', () => {
  test.each([
    ['scan --root src', ['scan', '--root', 'src']],
    ['./tool scan --root src', ['scan', '--root', 'src']],
    ['./tool ./tool', ['./tool']],
    ['./tools/scan x', ['./tools/scan', 'x']],
    ['  scan \'a b\'  "c d"\t e\\ f\n', ['scan', 'a b', 'c d', 'e f']],
    ["scan '' \"\" a''b", ['scan', '', '', 'ab']],
    [
      `scan "it's" 'say "x"' "a\\"b" 'c\\d' "e\\f" g\\\\h "\\$x"`,
      ['scan', "it's", 'say "x"', 'a"b', 'c\\d', 'e\\f', 'g\\h', '$x'],
    ],
    [
      'scan $HOME *.ts a|b > c && d `e` ~ #f',
      ['scan', '$HOME', '*.ts', 'a|b', '>', 'c', '&&', 'd', '`e`', '~', '#f'],
    ],
    ['scan a\\\n  b', ['scan', 'a', 'b']],
    ['scan ${{ input.name }} --n=${{ input.n }}', ['scan', 'a b; rm -rf "$HOME"', '--n=3']],
    [
      'scan \'${{ input.name }}\' "x${{ input.quote }}y" ${{ input.quote }}',
      ['scan', 'a b; rm -rf "$HOME"', "x'y", "'"],
    ],
    ['scan ${{input.list}} ${{ "a b" }}${{ \'}}\' }}', ['scan', '[1,"x y"]', 'a b}}']],
    ["scan ${{ '' }} end", ['scan', '', 'end']],
    ['scan \\${{ input.name }}', ['scan', '${{', 'input.name', '}}']],
  ])('%j', (command, words) => {
    expect(interpolateCommand(command, scope)).toEqual(words)
  })

  test.each([
    ['', 'names no tool'],
    ['  \n', 'names no tool'],
    ['./tool', 'names no tool'],
    ["''", 'names no tool'],
    ["scan 'a", "has a ' that is not closed"],
    ['scan "a\\"', 'has a " that is not closed'],
    ['scan a\\', 'ends with a backslash'],
    ['scan ${{ input.none }}', "'input.none' in the command"],
    ['scan x${{ input.missing.deep }}y', 'is null'],
    ['scan ${{ input.none || null }}', 'a value in the command'],
    ['scan ${{ input.x', 'cannot be read'],
  ])('%j is refused', (command, message) => {
    expect(() => interpolateCommand(command, scope)).toThrow(
      expect.objectContaining({
        code: 'INVALID_INPUT',
        message: expect.stringContaining(message) as unknown,
      }),
    )
  })

  test('whatever is quoted for a shell comes out as it was', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc
            .string({ unit: 'binary' })
            .filter((word) => !word.includes('${{') && !word.includes('\0')),
          { maxLength: 6 },
        ),
        (words) => {
          expect(
            interpolateCommand(
              ['tool', ...words]
                .map((word) => (word === '' ? "''" : quoteForShell(word)))
                .join(' '),
              scope,
            ),
          ).toEqual(['tool', ...words])
        },
      ),
    )
  })

  test('a value is one word, whatever it holds and wherever it is put', () => {
    const place = fc.constantFrom('${{ input.v }}', "'${{ input.v }}'", '"${{ input.v }}"')
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), place, (v, placeholder) => {
        expect(
          interpolateCommand(`tool ${placeholder} --k=${placeholder}`, scopeOf({ input: { v } })),
        ).toEqual(['tool', v, `--k=${v}`])
      }),
    )
  })

  test('any text gives words or a ToolError', () => {
    const pieces = fc
      .array(
        fc.constantFrom(
          'a',
          ' ',
          "'",
          '"',
          '\\',
          '\n',
          '${{',
          '}}',
          ' input.name ',
          '$',
          '{',
          './tool',
          '\u2028',
          '|',
        ),
        { maxLength: 20 },
      )
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(fc.oneof(pieces, fc.string({ unit: 'binary' })), (command) => {
        try {
          const words = interpolateCommand(command, scope)
          expect(words.length).toBeGreaterThan(0)
        } catch (error) {
          expect(ToolError.is(error)).toBe(true)
        }
      }),
      { numRuns: rounds(2000) },
    )
  })

  test('words without anything special for a shell are those of a shell', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b-c', ' ', "'", '"', '\\', '\n', '\t', '.'), {
        minLength: 1,
        maxLength: 12,
      })
      .map((parts) => `tool ${parts.join('')}`)
    const samples = fc.sample(text, { numRuns: 200, seed: 7 }).filter((command) => splits(command))
    expect(samples.length).toBeGreaterThan(50)
    // Newlines end a command of a shell, so they are blanks here outside quotes only; the shell
    // gets those commands that have none.
    const oneLine = samples.filter((command) => !command.includes('\n'))
    const script = oneLine
      .map((command) => `tool() { printf '%s\\0' tool "$@"; printf '\\1\\0'; }; ${command}`)
      .join('\n')
    const { stdout, status } = spawnSync('/bin/sh', { input: script, encoding: 'utf8' })
    expect(status).toBe(0)
    expect(
      stdout
        .split('\u0001\0')
        .slice(0, -1)
        .map((part) => part.split('\0').slice(0, -1)),
    ).toEqual(oneLine.map((command) => interpolateCommand(command, scope)))
  })
})

function splits(command: string): boolean {
  try {
    return interpolateCommand(command, scope).length > 0
  } catch {
    return false
  }
}
