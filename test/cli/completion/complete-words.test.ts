import { describe, expect, test } from 'vitest'
import { BUILTIN_COMMANDS } from '../../../src/cli/builtin-words.ts'
import { completeWords } from '../../../src/cli/complete.ts'
import { formatCompletion } from '../../../src/cli/completion-position.ts'
import { command, fileTools, oneTool, withFields } from '../help/fixtures.ts'

function values(...words: string[]): string[] {
  return completeWords(fileTools, words).candidates.map((candidate) => candidate.value)
}

const pathTool = withFields(
  {
    input: { type: 'string', format: 'path' },
    outputs: { type: 'array', items: { type: 'string', format: 'path' } },
    working_dir: { type: 'string' },
    folder: { type: 'string', format: 'path', 'x-toolable-path': { kind: 'directory' } },
    dry_run: { type: 'boolean' },
    verbose: { type: 'boolean' },
  },
  { positional: ['input', 'outputs'] },
)
const paths = { ...fileTools, tools: [pathTool, command({ name: 'other' })] }

describe('commands', () => {
  test('tools, groups and built-in commands', () => {
    expect(completeWords(fileTools, ['']).candidates).toEqual([
      { value: 'find_files', description: 'Find files matching a glob' },
      { value: 'pr', description: '2 commands' },
      ...BUILTIN_COMMANDS.map(({ name, summary }) => ({ value: name, description: summary })),
    ])
    expect(completeWords(fileTools, [])).toEqual(completeWords(fileTools, ['']))
  })

  test('by prefix, with - and _ equal', () => {
    expect(values('p')).toEqual(['pr'])
    expect(values('find-f')).toEqual(['find_files'])
    expect(values('x')).toEqual([])
  })

  test('inside a group', () => {
    expect(values('pr', '')).toEqual(['list', 'merge'])
    expect(values('pr', 'm')).toEqual(['merge'])
  })

  test('the whole name of a tool in a group is known too', () => {
    expect(values('pr_merge', '12', 's')).toEqual(['squash'])
    expect(values('pr-merge', '--meth')).toEqual(['--method'])
  })

  test('a tool that is a group as well', () => {
    const tools = [
      command({ name: 'pr', path: ['pr'] }),
      command({ name: 'pr_list', path: ['pr', 'list'], summary: 'Lists' }),
    ]
    expect(completeWords({ ...fileTools, tools }, ['p']).candidates).toEqual([
      { value: 'pr', description: 'Does pr' },
    ])
    expect(completeWords({ ...fileTools, tools }, ['pr', 'l']).candidates).toEqual([
      { value: 'list', description: 'Lists' },
    ])
  })

  test('a tool hides the built-in command of its name', () => {
    const tools = [command({ name: 'completion', summary: 'Mine' }), command({ name: 'x' })]
    expect(completeWords({ ...fileTools, tools }, ['comp']).candidates).toEqual([
      { value: 'completion', description: 'Mine' },
    ])
    expect(completeWords({ ...fileTools, tools }, ['completion', 'ba']).candidates).toEqual([])
  })

  test('nothing after an unknown command', () => {
    expect(completeWords(fileTools, ['nosuch', '--'])).toEqual({
      candidates: [],
      directive: 'none',
    })
  })

  test('words of built-in commands, and nothing after them', () => {
    expect(values('completion', '')).toEqual(['bash', 'zsh', 'fish', 'powershell'])
    expect(values('completion', 'z')).toEqual(['zsh'])
    expect(values('completion', 'bash', '')).toEqual([])
  })
})

describe('flags', () => {
  test('own flags first, then ours, with descriptions', () => {
    const { candidates } = completeWords(fileTools, ['find_files', '--'])
    expect(candidates.slice(0, 3)).toEqual([
      { value: '--pattern', description: 'Glob' },
      { value: '--sort' },
      { value: '--root', description: 'Where to begin' },
    ])
    expect(candidates.map(({ value }) => value)).toEqual(
      expect.arrayContaining(['--output', '--dry-run', '--help', '--schema', '--validate']),
    )
    expect(candidates.map(({ value }) => value)).not.toContain('--discover')
  })

  test('what is used is not offered again, unless it can be repeated', () => {
    const offered = values(
      'find_files',
      '*.ts',
      '--root',
      '.',
      '--exclude',
      'a',
      '--hidden',
      '--json',
      '-vq',
      '--',
    )
    for (const used of ['--pattern', '--root', '--hidden', '--json', '--quiet'])
      expect(offered).not.toContain(used)
    expect(offered).toEqual(
      expect.arrayContaining(['--exclude', '--verbose', '--filter', '--sort']),
    )
  })

  test('used in other spellings', () => {
    expect(values('find_files', '--root=.', '--ro')).toEqual([])
    expect(values('find_files', '-r', '.', '--ro')).toEqual([])
    expect(values('find_files', '-r.', '--ro')).toEqual([])
    expect(values('find_files', '--no-hidden', '--hid')).toEqual([])
  })

  test('negation is offered when it is asked for', () => {
    expect(values('find_files', '--no')).toEqual(['--no-hidden', '--no-color'])
    expect(values('find_files', '--h')).toEqual(['--hidden', '--help'])
  })

  test('a known short flag lets the shell go on', () => {
    expect(values('find_files', '-r')).toEqual(['-r'])
    expect(values('find_files', '-z')).toEqual([])
    expect(values('find_files', '-').length).toBeGreaterThan(10)
  })

  test('flags of the program only before the tool name', () => {
    expect(values('--')).toEqual(expect.arrayContaining(['--discover', '--version', '--help']))
    expect(values('--')).not.toContain('--fractalic-dump-schema')
    expect(values('--ho')).toEqual([])
    expect(values('pr', '--disc')).toEqual([])
  })

  test('offered without a dash where nothing else could come', () => {
    expect(values('find_files', '*.ts', '')).toContain('--sort')
    expect(values('find_files', '*.ts', 'x')).toEqual([])
  })

  test('keys of objects', () => {
    expect(values('find_files', '--owner.')).toEqual(['--owner.name', '--owner.role'])
    expect(values('find_files', '--owner.name', 'me', '--owner.')).toEqual(['--owner.role'])
    expect(values('find_files', '--owner.role', '')).toEqual(['user', 'root'])
    expect(values('find_files', '--owner.role=r')).toEqual(['--owner.role=root'])
  })

  test('hidden ones are known, but not offered; --session only for sessions', () => {
    const tools = [
      withFields(
        { secret: { enum: ['x'] } },
        { flags: { secret: { hidden: true } }, session: true },
      ),
      command({ name: 'other' }),
    ]
    const offered = completeWords({ ...fileTools, tools }, ['tool', '--se']).candidates.map(
      ({ value }) => value,
    )
    expect(offered).toEqual(['--secret-file', '--session'])
    expect(completeWords({ ...fileTools, tools }, ['tool', '--secret', '']).candidates).toEqual([
      { value: 'x' },
    ])
    expect(values('find_files', '--ses')).toEqual([])
  })
})

describe('values', () => {
  test.each<[string[], string[]]>([
    [
      ['find_files', '--sort', ''],
      ['name', 'size'],
    ],
    [['find_files', '--sort', 's'], ['size']],
    [
      ['find_files', '--kind', 's'],
      ['symlink', 'socket'],
    ],
    [
      ['find_files', '--sort='],
      ['--sort=name', '--sort=size'],
    ],
    [['find_files', '--sort=si'], ['--sort=size']],
    [
      ['find_files', '--hidden='],
      ['--hidden=true', '--hidden=false'],
    ],
    [
      ['find_files', '--output', 'j'],
      ['json', 'jsonl'],
    ],
    [
      ['find_files', '-o', 't'],
      ['text', 'toon'],
    ],
    [['find_files', '-vo', 'm'], ['md']],
    [['find_files', '--output=y'], ['--output=yaml']],
    [['find_files', '--dialect', 'a'], ['acor']],
    [['find_files', '--nosuch='], []],
    [['--output', 'c'], ['csv']],
    [['--resource', ''], ['notes://all']],
    [['--prompt', ''], ['review']],
    [['--prompt', 'review', ''], []],
    [['--output', 'json', 'pr', 'l'], ['list']],
  ])('%j', (words, expected) => {
    expect(values(...words)).toEqual(expected)
  })

  test('a value is a value, whatever it looks like', () => {
    expect(values('find_files', '--root', '--sort', '--sor')).toEqual(['--sort'])
    expect(values('find_files', '--root', '--')).toEqual([])
    expect(values('--prompt', 'review', '{}', 'p')).toEqual(['pr'])
  })

  test('positionals with choices', () => {
    expect(values('pr', 'merge', '12', '')).toEqual(['squash', 'rebase'])
    expect(values('pr', 'merge', '--number', '12', 's')).toEqual(['squash'])
    expect(values('pr', 'merge', '')).toEqual([])
  })

  test('paths', () => {
    expect(completeWords(paths, ['tool', ''])).toEqual({ candidates: [], directive: 'files' })
    expect(completeWords(paths, ['tool', 'a', 'b', 'c']).directive).toBe('files')
    expect(completeWords(paths, ['tool', '--input', '']).directive).toBe('files')
    expect(completeWords(paths, ['tool', '--input=']).directive).toBe('files')
    expect(completeWords(paths, ['tool', '--outputs', 'x']).directive).toBe('files')
    expect(completeWords(paths, ['tool', '--working-dir', '']).directive).toBe('directories')
    expect(completeWords(paths, ['tool', '--folder', '']).directive).toBe('directories')
    expect(completeWords(paths, ['tool', '--']).directive).toBe('none')
  })

  test('reserved fields are switches', () => {
    expect(completeWords(paths, ['tool', '--dry-run', 'a', '--dry']).candidates).toEqual([])
    expect(completeWords(paths, ['tool', '--no-d']).candidates).toEqual([])
  })

  test('nothing follows a whole input by position', () => {
    expect(completeWords(paths, ['tool', '{"input":"a"}', 'x'])).toEqual({
      candidates: [],
      directive: 'none',
    })
    expect(completeWords(paths, ['tool', '@input.json', 'x'])).toEqual({
      candidates: [],
      directive: 'none',
    })
    expect(completeWords(paths, ['tool', '-', 'x'])).toEqual({ candidates: [], directive: 'none' })
  })

  test('after -- there are only positionals', () => {
    expect(values('pr', 'merge', '12', '--', '')).toEqual(['squash', 'rebase'])
    expect(values('find_files', '--', '--so')).toEqual([])
    expect(values('find_files', 'a', '--', '')).toEqual([])
    expect(values('--', 'p')).toEqual([])
  })
})

describe('a program of one tool', () => {
  test('completes its flags and values without a tool name, and with it', () => {
    const at = (...words: string[]) =>
      completeWords(oneTool, words).candidates.map(({ value }) => value)
    expect(at('--so')).toEqual(['--sort'])
    expect(at('--sort', 's')).toEqual(['size'])
    expect(at('--disc')).toEqual(['--discover'])
    expect(at('find_files', '--disc')).toEqual([])
    expect(at('find_files', '--so')).toEqual(['--sort'])
    expect(at('')).toEqual(BUILTIN_COMMANDS.map(({ name }) => name))
    expect(at('x', '--pat')).toEqual([])
  })
})

describe('the protocol', () => {
  test('a line for each candidate, and the directive', () => {
    expect(
      formatCompletion({
        candidates: [
          { value: 'a b', description: 'x\ty\n z' },
          { value: ':c' },
          { value: 'd', description: '' },
        ],
        directive: 'files',
      }),
    ).toBe('a b\tx y z\n:c\nd\n:files\n')
    expect(formatCompletion({ candidates: [], directive: 'none' })).toBe(':none\n')
    expect(
      formatCompletion({
        candidates: [{ value: 'a', description: 'x'.repeat(81) }],
        directive: 'none',
      }),
    ).toBe(`a\t${'x'.repeat(79)}…\n:none\n`)
  })

  test('what could not be told from the protocol is left out', () => {
    expect(
      formatCompletion({
        candidates: [
          { value: 'a\tb' },
          { value: 'c\nd' },
          { value: '\u001b[31m' },
          { value: '' },
          { value: 'ok' },
        ],
        directive: 'none',
      }),
    ).toBe('ok\n:none\n')
  })
})
