import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  buildProgramArgv,
  MAX_ARGUMENT_BYTES,
  toFlagArguments,
} from '../../src/registry/child/arguments.ts'
import type { ProgramField, ProgramForm } from '../../src/registry/child/child-call.ts'
import { callChild, errorOf, foreign, hostEnv, resultOf } from '../support/call-child.ts'
import { rounds } from '../support/rounds.ts'

const NASTY = [
  '-x',
  '--output=/etc/passwd',
  '--',
  '-',
  '---',
  '-1',
  '-1.5e3',
  '--help',
  '--discover',
  '',
  ' ',
  '  two  words  ',
  "it's",
  '"quoted"',
  "'",
  '`id`',
  '$(touch /tmp/owned)',
  '${HOME}',
  '$HOME',
  '; rm -rf x',
  '| cat',
  '&& true',
  '> file',
  '< file',
  '*',
  '?',
  '~',
  '!history',
  '\\',
  '\\n',
  'line\nbreak',
  'tab\there',
  '\r\n',
  '%s%n',
  '@file',
  '+x',
  '/etc/passwd',
  'ünïcödé',
  '日本語',
  '👩‍👩‍👧',
  '\u202Ertl',
  '\u0007bell',
  '\u001b[31m',
  '{"a":1}',
  '{"__test__": true}',
  'a=b',
  '--a=b=c',
  'null',
  'true',
  '0x1F',
  'x'.repeat(100_000),
]

describe('arguments [6.child-argv]', () => {
  test('arrive exactly as they are, in every language, with no shell in between', async () => {
    const input = { texts: NASTY }
    const sent = NASTY.flatMap((text) =>
      text.startsWith('-') ? [`--texts=${text}`] : ['--texts', text],
    )
    const python = resultOf<{ argv: string[] }>(
      await callChild(
        { form: 'flags', command: ['python3', foreign('tells-what-it-got.py')] },
        input,
      ),
    )
    const node = resultOf<{ argv: string[] }>(
      await callChild(
        { form: 'flags', command: [process.execPath, foreign('tells-what-it-got.mjs')] },
        input,
      ),
    )
    const perl = resultOf<{ argv: string[] }>(
      await callChild({ form: 'flags', command: ['perl', foreign('tells-what-it-got.pl')] }, input),
    )
    expect(python.argv).toEqual(sent)
    expect(node.argv).toEqual(sent)
    expect(perl.argv.map((hex) => Buffer.from(hex, 'hex').toString())).toEqual(sent)
  })

  test('as JSON are one argument', async () => {
    const input = { texts: NASTY.map((text) => text.slice(0, 50)), deep: { a: [null, true, 1.5] } }
    const { argv } = resultOf<{ argv: string[] }>(
      await callChild(
        { form: 'json', command: ['python3', foreign('tells-what-it-got.py'), 'fixed'] },
        input,
      ),
    )
    expect(argv).toEqual(['fixed', JSON.stringify(input)])
  })

  test('become flags: names with dashes, true bare, false and null left out, lists repeated, objects as JSON', () => {
    expect(
      toFlagArguments({
        max_depth: 3,
        loud: true,
        quiet: false,
        nothing: null,
        tags: ['a', '-b', null, 2],
        none: [],
        config: { a: [1] },
        pairs: [{ k: 1 }],
        empty: '',
      }),
    ).toEqual([
      '--max-depth',
      '3',
      '--loud',
      '--tags',
      'a',
      '--tags=-b',
      '--tags',
      '2',
      '--config',
      '{"a":[1]}',
      '--pairs',
      '{"k":1}',
      '--empty',
      '',
    ])
  })

  test.each(['', '-x', '--y', 'a b', 'a=b', 'a\nb', '.hidden', '$x', 'a\0'])(
    'refuse a field that cannot be a flag: %j',
    async (field) => {
      expect(
        errorOf(await callChild({ form: 'flags', command: ['true'] }, { [field]: 1 })),
      ).toMatchObject({ code: 'INVALID_INPUT', field })
    },
  )

  test('for parsers written by hand are of the form that they know', async () => {
    const call = { form: 'flags', command: ['sh', foreign('parses-by-hand.sh')] } as const
    expect(resultOf(await callChild(call, { name: 'two words', loud: true }))).toEqual({
      name: 'two words',
      loud: true,
    })
    expect(errorOf(await callChild(call, { name: '--loud' }))).toMatchObject({
      code: 'INVALID_INPUT',
      message: 'unknown argument: --name=--loud',
      details: { exit_status: 2 },
    })
  })

  test('come back from argparse as they were sent', () => {
    // argparse of Python 3.11 makes an empty list of `--text=--`.
    const text = fc
      .oneof(
        fc.string({ unit: 'grapheme' }),
        fc.constantFrom(...NASTY.slice(0, -1)),
        fc.string().map((tail) => `-${tail}`),
      )
      .filter((value) => value !== '--' && !value.includes('\0') && !/\p{Surrogate}/u.test(value))
    const inputs = fc.sample(
      fc.record(
        {
          text,
          other_text: text,
          count: fc.integer(),
          ratio: fc.double({ noNaN: true, noDefaultInfinity: true }),
          loud: fc.boolean(),
          tags: fc.array(text, { minLength: 1 }),
          config: fc.dictionary(text, fc.oneof(text, fc.integer())),
        },
        { requiredKeys: [] },
      ),
      { numRuns: 300, seed: 7 },
    )
    const lines = inputs.map((input) => JSON.stringify(toFlagArguments(input))).join('\n')
    const { stdout } = spawnSync('python3', [foreign('parses-with-argparse.py')], {
      input: lines,
      encoding: 'utf8',
      env: hostEnv,
      maxBuffer: 1e8,
    })
    const parsed = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown)
    const absent = {
      text: null,
      other_text: null,
      count: null,
      ratio: null,
      loud: false,
      tags: null,
      config: null,
    }
    expect(parsed).toEqual(
      inputs.map((input) => JSON.parse(JSON.stringify({ ...absent, ...input })) as unknown),
    )
  })
})

describe('arguments of ordinary programs [6.child-argv]', () => {
  const field = (name: string, more: Partial<ProgramField> = {}): ProgramField => ({
    field: name,
    takesValue: true,
    ...more,
  })
  const build = (fields: readonly ProgramField[], input: object, more: Partial<ProgramForm> = {}) =>
    buildProgramArgv({ fields, ...more }, input as never)

  test('attach values to their flags, and put positionals last', () => {
    const fields = [
      field('file'),
      field('out', { flag: '--out' }),
      field('depth', { flag: '-d' }),
      field('sep', { flag: '-s', separate: true }),
      field('loud', { flag: '--loud', takesValue: false }),
      field('v', { flag: '-v', takesValue: false, repeatable: true }),
    ]
    expect(
      build(fields, { file: 'a', out: '-x', depth: '-5', sep: 'y', loud: true, v: 3 }),
    ).toEqual(['--out=-x', '-d-5', '-s', 'y', '--loud', '-v', '-v', '-v', 'a'])
    expect(
      build(fields, { sep: '-y', depth: '', loud: false, v: 0, file: ['b', 'c'], unknown: 1 }),
    ).toEqual(['-d', '', '-s-y', 'b', 'c'])
    expect(build(fields, { file: '-' })).toEqual(['-'])
  })

  test('put -- before positionals that look like flags', () => {
    expect(
      build([field('file'), field('out', { flag: '--out' })], {
        file: ['a', '--out=/etc/x'],
        out: 'o',
      }),
    ).toEqual(['--out=o', '--', 'a', '--out=/etc/x'])
  })

  test('are refused where nothing keeps a value from being a flag', () => {
    const find = [
      field('path'),
      field('name', { flag: '-name', separate: true }),
      field('size', { flag: '--size', separate: true }),
    ]
    expect(() => build(find, { name: '-delete' })).toThrow("'-delete' begins with a dash")
    expect(() => build(find, { size: '-1' })).toThrow('begins with a dash')
    // Behind `--` too, find takes it for what to do with everything here.
    expect(() => build(find, { path: '-delete' }, { noEndOfFlags: true })).toThrow(
      'begins with a dash',
    )
    expect(build(find, { path: '.', name: '*.ts' })).toEqual(['-name', '*.ts', '.'])
  })

  test('never hold a value where a flag can stand, whatever it is', () => {
    const styles: readonly Partial<ProgramField>[] = [
      {},
      { flag: '--long' },
      { flag: '--long', separate: true },
      { flag: '-s' },
      { flag: '-s', separate: true },
      { flag: '-long' },
      { flag: '-long', separate: true },
    ]
    fc.assert(
      fc.property(
        fc.constantFrom(...styles),
        fc.oneof(fc.string(), fc.constantFrom(...NASTY)),
        (style, value) => {
          let args: readonly string[]
          try {
            args = build([field('x', style)], { x: value })
          } catch {
            expect(value.startsWith('-')).toBe(true)
            return
          }
          const { flag } = style
          const before = args.includes('--') ? args.slice(0, args.indexOf('--')) : args
          expect(
            before
              .filter((argument) => argument.startsWith('-') && argument !== '-')
              .every((argument) => flag !== undefined && argument.startsWith(flag)),
          ).toBe(true)
          expect(args.join('')).toContain(value)
        },
      ),
      { numRuns: rounds(500) },
    )
  })
})

describe('large and odd input [6.child-large-input]', () => {
  const perl = (form: 'json' | 'stdin' | 'toolable', more: object = {}) =>
    ({ form, command: ['perl', foreign('tells-what-it-got.pl')], ...more }) as const
  const text = (bytes: number) => ({ text: 'x'.repeat(bytes - '{"text":""}'.length) })

  test('an argument has its limit, to the byte', async () => {
    const fits = resultOf<{ argv: string[] }>(
      await callChild(perl('json'), text(MAX_ARGUMENT_BYTES)),
    )
    expect(fits.argv[0]).toHaveLength(2 * MAX_ARGUMENT_BYTES)
    expect(errorOf(await callChild(perl('json'), text(MAX_ARGUMENT_BYTES + 1)))).toMatchObject({
      code: 'INVALID_INPUT',
      message:
        'the input as JSON has 131072 bytes, and one argument of a command line has at most 131071',
      suggestion: { fix: expect.stringContaining('call: stdin') as string },
    })
    expect(
      errorOf(
        await callChild({ form: 'flags', command: ['true'] }, { text: `-${'ä'.repeat(100_000)}` }),
      ),
    ).toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringMatching(/^the value of --text has 200008 bytes/) as string,
    })
    expect(
      errorOf(await callChild({ form: 'flags', command: ['true'] }, { text: 'x'.repeat(200_000) })),
    ).toMatchObject({
      message: expect.stringMatching(/^the value of --text has 200000 bytes/) as string,
    })
    expect(
      resultOf<{ argv: string[] }>(
        await callChild(perl('json', { stdin: true }), { text: '日'.repeat(60_000) }),
      ).argv,
    ).toEqual([])
  })

  test('many arguments that are too much together are refused by the system, in words', async () => {
    const { code, message } = errorOf(
      await callChild(
        { form: 'flags', command: ['true'] },
        { texts: Array.from({ length: 100 }, () => 'x'.repeat(100_000)) },
      ),
    )
    expect([code, message]).toEqual(['INVALID_INPUT', expect.stringContaining('too large')])
  })

  test.each([
    ['stdin', {}],
    ['json', { stdin: true }],
    ['toolable', { stdin: true, tool: 't' }],
  ] as const)('%s takes a megabyte by stdin', async (form, more) => {
    const { stdin_bytes: bytes } = resultOf<{ stdin_bytes: number }>(
      await callChild(perl(form, more), text(1_000_000)),
    )
    expect(bytes).toBeGreaterThanOrEqual(1_000_000)
  })

  test('secrets never stand on a command line', async () => {
    expect(
      resultOf(await callChild(perl('json', { secret: true, stdin: true }), { key: 'k' })),
    ).toEqual({ argv: [], stdin_bytes: 11 })
    expect(errorOf(await callChild(perl('json', { secret: true }), { key: 'k' }))).toMatchObject({
      code: 'CONFIG',
      suggestion: { fix: expect.stringContaining('call: stdin') as string },
    })
  })

  test('NUL and half characters are refused in words, or escaped by JSON', async () => {
    const flags = { form: 'flags', command: ['true'] } as const
    expect(errorOf(await callChild(flags, { text: 'a\0b' }))).toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('NUL') as string,
    })
    expect(errorOf(await callChild(flags, { text: '\uD800' }))).toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('surrogate') as string,
    })
    expect(
      resultOf<{ argv: string[] }>(await callChild(perl('json'), { text: '\0' })).argv.map((hex) =>
        Buffer.from(hex, 'hex').toString(),
      ),
    ).toEqual(['{"text":"\\u0000"}'])
  })
})
