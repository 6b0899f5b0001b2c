import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { tool, toolset } from '../../src/index.ts'
import type { Io } from '../../src/protocol/io.ts'
import { toFlagSpecs } from '../../src/define/flag-specs.ts'
import { parseCommand } from '../../src/cli/command.ts'
import { formatCommandLine } from '../../src/cli/command-line.ts'
import { readInput } from '../../src/cli/input.ts'
import { parseToolArguments } from '../../src/define/tool-arguments.ts'
import { formatRepairCommand } from '../../src/cli/failure.ts'

type Input = { readonly [field: string]: unknown }

const text = { type: 'string' }
const everything = tool({
  name: 'every_thing',
  summary: 'Has a field of each kind',
  input: {
    type: 'object',
    properties: {
      first: text,
      rest: { type: 'array', items: text },
      count: { type: 'integer' },
      ratio: { type: 'number' },
      loud: { type: 'boolean' },
      maxDepth: { type: 'integer' },
      mode: { enum: ['fast', 'slow'] },
      numbers: { type: 'array', items: { type: 'integer' } },
      config: {
        type: 'object',
        properties: { name: text, deep: { type: 'object', additionalProperties: true } },
        additionalProperties: false,
      },
      either: { type: ['string', 'integer'] },
      maybe: { type: ['string', 'null'] },
      any: {},
      tools: { type: 'boolean' },
      version: text,
    },
    required: ['first'],
    additionalProperties: false,
  },
  positional: ['first', 'rest'],
  run: (input) => input,
})
const other = tool({ name: 'other', summary: 'Another tool', run: () => null })
const many = toolset({ name: 'args', tools: { group: { everything }, other } })
const only = toolset({ name: 'args', tools: [everything] })

const words = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(
    '',
    '-',
    '--',
    '-5',
    '--json',
    '--no-loud',
    '-h',
    '@file.json',
    '{"a":1}',
    '[1]',
    'null',
    'true',
    '1.10',
    'every_thing',
    'every-thing',
    'completion',
    '__complete',
    'docs',
    'other',
    'a b',
    "it's",
    '$HOME',
    '`x`',
    'a\nb',
    '*',
    '!',
    'x=y',
    '=',
    ' ',
    '\u0007',
    '\u009b',
    '\ud800',
    'é',
    '#',
    '~',
  ),
)
const values = fc.oneof(
  words,
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
  fc.array(words, { maxLength: 2 }),
  fc.dictionary(fc.string(), words, { maxKeys: 2 }),
)
const inputs: fc.Arbitrary<Input> = fc.record(
  {
    first: words,
    rest: fc.array(words, { maxLength: 3 }),
    count: fc.integer(),
    ratio: fc.double({ noNaN: true, noDefaultInfinity: true }),
    loud: fc.boolean(),
    maxDepth: fc.integer(),
    mode: fc.constantFrom('fast', 'slow'),
    numbers: fc.array(fc.integer(), { maxLength: 3 }),
    config: fc.record(
      {
        name: words,
        deep: fc.dictionary(fc.constantFrom('a', '__proto__', 'constructor', 'b.c', ''), words, {
          maxKeys: 2,
        }),
      },
      { requiredKeys: [] },
    ),
    either: fc.oneof(words, fc.integer()),
    maybe: fc.oneof(words, fc.constant(null)),
    any: values,
    tools: fc.boolean(),
    version: words,
  },
  { requiredKeys: ['first'] },
)

const silent = {
  write: () => undefined,
  send: async () => undefined,
  flush: async () => undefined,
  isTTY: false,
  columns: 80,
}
const io: Io = {
  stdin: { isTTY: true, taken: false, bytes: async function* () {}, close: () => undefined },
  stdout: silent,
  stderr: silent,
  env: {},
  cwd: '/',
  now: () => 0,
}

/** What a real bash hands to the program for each line. */
function splitByBash(lines: readonly string[]): string[][] {
  const script = `args() { printf '%s\\0' "$#" "$@"; }\n${lines.join('\n')}\n`
  const fields = execFileSync('/bin/bash', ['--norc', '-s'], {
    input: script,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  }).split('\0')
  return lines.map(() => fields.splice(0, 1 + Number(fields[0])).slice(1))
}

async function readBack(set: typeof many, argv: readonly string[]): Promise<unknown> {
  const command = parseCommand(set, argv)
  if (command.kind !== 'tool' || command.problem)
    throw command.problem ?? new Error(`read as ${command.kind}`)
  const { definition } = command.entry
  const args = await parseToolArguments(definition, command.tokens, command.globals, command.single)
  if (args.problem) throw args.problem
  return (await readInput(args, command.globals, io, { stdinTaken: false })).input
}

describe('a command line that is printed', () => {
  test.each([
    ['a program of many tools', many, false],
    ['a program of one tool', only, true],
  ] as const)(
    'is read back as the same input, by %s [3.suggestion-input]',
    async (_name, set, single) => {
      const entry = set.entries[0]!
      const specs = toFlagSpecs((await entry.definition.compiled()).manifest)
      const samples = fc.sample(inputs, { numRuns: 600, seed: 7 })
      const lines = samples.map((input) =>
        formatRepairCommand({ set, entry, single, specs } as never, input),
      )
      const argvs = splitByBash(lines)
      for (const [index, input] of samples.entries()) {
        const read = await readBack(set, argvs[index]!).catch((error: unknown) => error)
        expect(JSON.stringify(sorted(read)), lines[index]).toBe(
          JSON.stringify(sorted(JSON.parse(JSON.stringify(input)))),
        )
      }
      expect(lines.filter((line) => line.includes('--')).length).toBeGreaterThan(50)
    },
  )

  test('is plain where plain words do [3.suggestion-input]', async () => {
    const entry = many.entries[0]!
    const specs = toFlagSpecs((await entry.definition.compiled()).manifest)
    expect(
      formatCommandLine('prog', entry.path, specs, {
        first: 'a b',
        rest: ['c'],
        count: -3,
        loud: false,
        mode: 'fast',
      }),
    ).toBe("prog group everything 'a b' c --count=-3 --no-loud --mode fast")
  })
})

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null || value instanceof Error)
    return value instanceof Error ? String(value) : value
  return Object.entries(value)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, field]) => [key, sorted(field)])
}
