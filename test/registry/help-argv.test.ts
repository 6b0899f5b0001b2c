import fc from 'fast-check'
import { expect, test } from 'vitest'
import { buildProgramArgv } from '../../src/registry/child/arguments.ts'
import { readProgramHelp } from '../../src/registry/help/read-help.ts'

const GREP = `Usage: grep [OPTION]... PATTERNS [FILE]...
  -e, --regexp=PATTERNS     use PATTERNS for matching
  -m, --max-count=NUM       stop after NUM selected lines
      --color[=WHEN]        use markers; WHEN is 'always', 'never', or 'auto'
  -i, --ignore-case         ignore case distinctions
  -v                        be louder; can be repeated
      --[no-]heading        print a heading
  -n NUM                    count
  -h, --help                display this help`

const FIND = `Usage: find [path] [expression]
  -name PATTERN  by its name
  -size N        by its size
  -delete        remove what is found`

test('[6.help-facts] a help text gives fields, types and what is required', () => {
  const { facts } = readProgramHelp(GREP, 'grep')!
  expect(facts.inputSchema).toEqual({
    type: 'object',
    additionalProperties: false,
    required: ['patterns'],
    properties: {
      regexp: { type: 'string', description: 'use PATTERNS for matching' },
      max_count: { type: 'integer', description: 'stop after NUM selected lines' },
      color: {
        anyOf: [{ type: 'string' }, { type: 'boolean' }],
        description: "use markers; WHEN is 'always', 'never', or 'auto'",
      },
      ignore_case: { type: 'boolean', description: 'ignore case distinctions' },
      v: { type: 'integer', minimum: 0, maximum: 10, description: 'be louder; can be repeated' },
      heading: { type: 'boolean', description: 'print a heading' },
      n: { type: 'integer', description: 'count' },
      patterns: { type: 'string' },
      file: { type: 'array', items: { type: 'string' } },
    },
  })
})

test('[6.help-argv] values stand at their flags, behind -- or nowhere', () => {
  const { program } = readProgramHelp(GREP, 'grep')!
  const build = (input: Record<string, unknown>): string[] => buildProgramArgv(program, input)
  expect(build({ patterns: 'x', file: ['a', 'b'], max_count: 3, ignore_case: true })).toEqual([
    '--max-count=3',
    '--ignore-case',
    'x',
    'a',
    'b',
  ])
  expect(build({ patterns: '-rf', ignore_case: false })).toEqual(['--', '-rf'])
  expect(build({ patterns: 'x', color: true })).toEqual(['--color', 'x'])
  expect(build({ patterns: 'x', color: '--help' })).toEqual(['--color=--help', 'x'])
  expect(build({ patterns: 'x', heading: false, v: 2 })).toEqual(['-v', '-v', '--no-heading', 'x'])
  expect(build({ patterns: 'x', n: 5 })).toEqual(['-n', '5', 'x'])
  expect(build({ patterns: 'x', n: -5 })).toEqual(['-n-5', 'x'])
  expect(build({ patterns: '-' })).toEqual(['-'])
  expect(() => build({ file: ['a'] })).toThrow("'file' stands behind 'patterns'")
})

test('[6.help-argv] a program without -- gets no value that begins with a dash', () => {
  const { program } = readProgramHelp(FIND, 'find')!
  const build = (input: Record<string, unknown>): string[] => buildProgramArgv(program, input)
  expect(build({ path: '.', name: '*.ts' })).toEqual(['-name', '*.ts', '.'])
  for (const input of [{ path: '-delete' }, { name: '-delete' }])
    expect(() => build(input)).toThrow('begins with a dash')
})

test('[6.help-argv] several values behind one flag end where the arguments begin', () => {
  const { program } = readProgramHelp(
    'usage: pack [-h] [--files FILE [FILE ...]] target\n\noptions:\n  --files FILE [FILE ...]  what to pack\n',
    'pack',
  )!
  expect(buildProgramArgv(program, { files: ['a', 'b'], target: 't' })).toEqual([
    '--files',
    'a',
    'b',
    '--',
    't',
  ])
  expect(() => buildProgramArgv(program, { files: ['a', '-b'] })).toThrow('begins with a dash')
})

test('[6.help-argv] no input makes a flag that it does not name', () => {
  const value = fc.oneof(fc.string(), fc.constantFrom('-x', '--all', '--', '-', '=', '--color=x'))
  const { program } = readProgramHelp(GREP, 'grep')!
  const own = new Set(
    program.fields
      .flatMap(({ flag, negative }) => [flag, negative])
      .filter((flag) => flag !== undefined),
  )
  fc.assert(
    fc.property(
      fc.record(
        { patterns: value, regexp: value, color: value, file: fc.array(value) },
        { requiredKeys: ['patterns'] },
      ),
      (input) => {
        const argv = buildProgramArgv(program, input)
        const end = argv.indexOf('--')
        const flags = (end < 0 ? argv : argv.slice(0, end)).filter(
          (argument) => argument.startsWith('-') && argument !== '-',
        )
        for (const flag of flags) expect(own).toContain(flag.split('=', 1)[0])
        expect(flags).toHaveLength(['regexp', 'color'].filter((field) => field in input).length)
      },
    ),
  )
})
