import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { quoteForShell } from '../../../src/util/text.ts'
import { formatCommandLine } from '../../../src/cli/command-line.ts'
import { toFlagSpecs } from '../../../src/define/flag-specs.ts'
import { withFields } from './fixtures.ts'
import { rounds } from '../../support/rounds.ts'

const specs = toFlagSpecs(
  withFields(
    {
      from: { type: 'string' },
      files: { type: 'array', items: { type: 'string' } },
      maxDepth: { type: 'integer' },
      deep: { type: 'boolean' },
      tags: { type: 'array', items: { type: 'string' } },
      counts: { type: 'array', items: { type: 'number' } },
      steps: { type: 'array', items: { type: 'object' } },
      config: { type: 'object' },
      mixed: { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] },
      anything: {},
      name: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      point: { type: 'array', prefixItems: [{ type: 'number' }, { type: 'string' }] },
    },
    { positional: ['from', 'files'] },
  ),
)

function say(input: Record<string, unknown>): string {
  return formatCommandLine('prog', ['run'], specs, input)
}

describe('what is said in flags', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['nothing', {}, 'prog run'],
    ['positionals', { from: 'a', files: ['b', 'c'] }, 'prog run a b c'],
    [
      'quoted where the shell would act',
      { from: '*.ts', files: ["it's", '$HOME', 'a b', '~', ''] },
      `prog run '*.ts' 'it'\\''s' '$HOME' 'a b' '~' ''`,
    ],
    ['values', { from: 'a', maxDepth: 3 }, 'prog run a --max-depth 3'],
    ['booleans', { deep: true }, 'prog run --deep'],
    ['booleans that are off', { deep: false }, 'prog run --no-deep'],
    [
      'lists',
      { tags: ['x', 'y'], counts: [1, 2.5] },
      'prog run --tags x --tags y --counts 1 --counts 2.5',
    ],
    [
      'objects',
      { config: { a: [1] }, steps: [{ b: "'" }] },
      `prog run --steps '{"b":"'\\''"}' --config '{"a":[1]}'`,
    ],
    [
      'dashes',
      { from: '-x', maxDepth: -3, tags: ['--', '-'] },
      'prog run --from=-x --max-depth=-3 --tags=-- --tags=-',
    ],
    ['positionals after a gap', { files: ['b'] }, 'prog run --files b'],
    [
      'positionals after one that begins with a dash',
      { from: '-x', files: ['b'] },
      'prog run --from=-x --files b',
    ],
    ['what would be the whole input', { from: '{"a":1}' }, `prog run --from '{"a":1}'`],
    ['what would be a file', { from: '@scope/name' }, 'prog run --from @scope/name'],
    ['numbers as text', { from: '1.10' }, 'prog run 1.10'],
    ['null as text', { from: 'null' }, 'prog run null'],
    ['texts of a union', { mixed: 'abc', anything: 'abc' }, 'prog run --mixed abc --anything abc'],
    ['absent values', { from: undefined, name: 'n' }, 'prog run --name n'],
    ['line breaks', { from: 'a\nb' }, `prog run 'a\nb'`],
  ])('%s', (_, input, line) => {
    expect(say(input)).toBe(line)
  })
})

describe('what is said as JSON', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['unknown fields', { other: 1 }, '{"other":1}'],
    ['null', { name: null }, '{"name":null}'],
    ['null inside', { config: { a: { b: [null] } } }, '{"config":{"a":{"b":[null]}}}'],
    ['an empty list', { tags: [] }, '{"tags":[]}'],
    ['numbers of a union', { mixed: 5 }, '{"mixed":5}'],
    ['texts that could be numbers of a union', { mixed: '5' }, '{"mixed":"5"}'],
    ['texts that could be booleans of a union', { anything: 'true' }, '{"anything":"true"}'],
    ['hexadecimal texts of a union', { mixed: '0x10' }, '{"mixed":"0x10"}'],
    ['empty texts of a union', { mixed: '' }, '{"mixed":""}'],
    ['the word null where null is allowed', { name: 'null' }, '{"name":"null"}'],
    ['numbers that are not exact', { maxDepth: 1e20 }, '{"maxDepth":100000000000000000000}'],
    ['wrong types', { maxDepth: '3', deep: 'yes' }, '{"maxDepth":"3","deep":"yes"}'],
    ['a text where a list is wanted', { tags: 'x' }, '{"tags":"x"}'],
    ['items that look like a list', { tags: ['[1]'] }, '{"tags":["[1]"]}'],
    ['tuples', { point: [1, 'a'] }, '{"point":[1,"a"]}'],
    ['control characters', { from: 'a\tb\u001b[31m' }, '{"from":"a\\tb\\u001b[31m"}'],
    [
      'control characters that JSON leaves alone',
      { from: '\u007f\u009b' },
      '{"from":"\\u007f\\u009b"}',
    ],
    ['NUL', { tags: ['\0'] }, '{"tags":["\\u0000"]}'],
    ['half a surrogate pair', { from: '\ud800' }, '{"from":"\\ud800"}'],
    ['__proto__', JSON.parse('{"__proto__":1}') as Record<string, unknown>, '{"__proto__":1}'],
  ])('%s', (_, input, json) => {
    expect(say(input)).toBe(`prog run '${json}'`)
  })

  test('no argument at all where a required field is missing, because stdin would be read', () => {
    expect(
      formatCommandLine(
        'prog',
        ['run'],
        toFlagSpecs(withFields({ a: { type: 'string' } }, { required: ['a'] })),
        {},
      ),
    ).toBe(`prog run '{}'`)
  })
})

describe('a program of one tool', () => {
  const single = toFlagSpecs(
    withFields({ word: { type: 'string' }, prompt: { type: 'string' } }, { positional: ['word'] }),
  )

  test('without input it is still called, not asked for help', () => {
    expect(formatCommandLine('greet', [], single, {})).toBe(`greet '{}'`)
  })

  test('needs no tool name', () => {
    expect(formatCommandLine('greet', [], single, { word: 'world' })).toBe('greet world')
  })

  test('keeps clear of commands', () => {
    expect(formatCommandLine('greet', [], single, { word: 'completion' })).toBe(
      'greet --word completion',
    )
    expect(formatCommandLine('greet', [], single, { word: 'say-hello' }, ['say_hello'])).toBe(
      'greet --word say-hello',
    )
    expect(formatCommandLine('greet', ['run'], single, { word: 'completion', prompt: 'x' })).toBe(
      'greet run completion --prompt x',
    )
  })
})

describe('reserved fields', () => {
  const reserved = toFlagSpecs(
    withFields({
      timeout: { type: 'number' },
      dry_run: { type: 'boolean' },
      verbose: { type: 'integer' },
    }),
  )

  test('are written as the flag that feeds them', () => {
    expect(
      formatCommandLine('prog', ['run'], reserved, { timeout: 5, dry_run: true, verbose: 2 }),
    ).toBe('prog run --timeout 5 --dry-run -vv')
  })

  test('are written as JSON where the flag cannot say it', () => {
    expect(formatCommandLine('prog', ['run'], reserved, { dry_run: false })).toBe(
      `prog run '{"dry_run":false}'`,
    )
    expect(formatCommandLine('prog', ['run'], reserved, { verbose: 0 })).toBe(
      `prog run '{"verbose":0}'`,
    )
  })
})

describe('quoting, asked from a real shell', () => {
  const text = fc
    .oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: fc.constantFrom(...`'"\\$\`!*?[]{}()<>|&;#~=%@^ \n\t-a/:`) }),
    )
    .filter((word) => !word.includes('\0'))

  test('every word arrives unchanged', () => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 40 }), (words) => {
        const script = `printf '%s\\0' ${words.map(quoteForShell).join(' ')}`
        expect(
          execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1),
        ).toEqual(words)
      }),
      { numRuns: rounds(40) },
    )
  })
})
