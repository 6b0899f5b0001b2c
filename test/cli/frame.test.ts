import { describe, expect, test } from 'vitest'
import { fail } from '../../src/protocol/tool-error.ts'
import { tool } from '../../src/core/tool.ts'
import { runMatchingBuiltin } from '../../src/cli/run-builtin.ts'
import type { BuiltinCommand } from '../../src/cli/types.ts'
import { createBuiltinToolset } from '../../src/cli/builtins.ts'
import { parseCommand } from '../../src/cli/command.ts'
import type { ParsedCommand } from '../../src/cli/command.ts'
import { completeWords } from '../../src/cli/complete.ts'
import type { CommandHost } from '../../src/cli/types.ts'
import { toolset } from '../../src/cli/toolset.ts'
import { createFakeIo } from '../../src/testing/run-cli.ts'

const greet = tool({ name: 'greet', summary: 'Greets', run: () => 'hello' })
const program = toolset({ name: 'prog', version: '2.0.0', tools: { greet, other: greet } })

const add = tool({
  name: 'add',
  summary: 'Adds a server',
  input: {
    type: 'object',
    properties: {
      agents: { type: 'array', items: { type: 'string' } },
      scope: { enum: ['project', 'user'], default: 'project' },
    },
    additionalProperties: false,
  },
  positional: ['agents'],
  dryRun: true,
  run({ agents = [] }: { agents?: string[] }, ctx) {
    for (const agent of agents) ctx.plan('write', agent)
    if (agents.includes('nosuch')) fail('NOT_FOUND', 'there is no agent nosuch')
    return { added: agents, dry: ctx.dryRun }
  },
})
const serve = tool({
  name: 'serve',
  summary: 'Serves',
  input: {
    type: 'object',
    properties: {
      transport: { enum: ['stdio', 'http'] },
      port: { type: 'integer', minimum: 1, default: 8080 },
    },
    required: ['transport'],
    additionalProperties: false,
  },
  flags: { port: { env: 'PROG_PORT' } },
})
const started: unknown[] = []
const commands: BuiltinCommand[] = [
  { path: ['mcp', 'add'], tool: add },
  {
    path: ['mcp', 'serve'],
    tool: serve,
    async start(input, { set, io, globals }) {
      started.push(input)
      if ((input as { port: number }).port === 1)
        fail('CONFLICT', 'port 1 is taken', { suggestion: 'Take another one' })
      if ((input as { port: number }).port === 2) throw new Error('broken')
      io.stdout.write(`${set.entries.length} tools${globals.dryRun ? ', dry' : ''}\n`)
      return 7
    },
  },
]

describe('a built-in command is a tool [5.builtin-commands]', () => {
  test('its outcome is the envelope of <program>.<words>', async () => {
    const { status, json } = await run(['add', 'codex', '--scope', 'user'])
    expect(status).toBe(0)
    expect(json).toMatchObject({
      ok: true,
      result: { added: ['codex'], dry: false },
      meta: { tool: 'prog.mcp_add', version: '2.0.0' },
    })
  })

  test('--dry-run, --output and a failure work as they do for tools', async () => {
    expect((await run(['add', 'codex', '--dry-run'])).json).toMatchObject({
      result: { plan: [{ action: 'write', target: 'codex' }] },
      meta: { dry_run: true },
    })
    expect((await run(['add', 'codex', '-o', 'yaml'])).stdout).toContain('ok: true')
    const failed = await run(['add', 'nosuch'])
    expect([failed.status, failed.json.error.code]).toEqual([66, 'NOT_FOUND'])
  })

  test('help names the program, of a command and of a group', async () => {
    const help = await run(['add', '--help'])
    expect([help.status, help.stderr]).toEqual([0, ''])
    expect(help.stdout).toContain('prog mcp add [agents]... [options]')
    for (const words of [[], ['--help'], ['-h']])
      expect((await run(words)).stdout).toMatch(
        /prog mcp <command>[\s\S]*mcp add {2,}Adds a server/,
      )
  })

  test('help of a lone command shows its name too', async () => {
    const lone = await run(['--help'], { builtins: [{ path: ['mcp'], tool: serve }] })
    expect(lone.stdout).toContain('prog mcp --transport')
  })

  test('an unknown sub-word is told with the near one and exit 2', async () => {
    const { status, json } = await run(['ad', '--json'])
    expect(status).toBe(2)
    expect(json.error).toMatchObject({
      code: 'USAGE',
      message: "unknown command 'mcp ad'; did you mean 'mcp add'?",
      suggestion: { example: 'prog mcp --help' },
    })
  })

  test('unknown flags and bad values exit 2', async () => {
    const flag = await run(['add', '--scop', 'user'])
    expect([
      flag.status,
      flag.json.error.suggestion.fix,
      flag.json.error.suggestion.example,
    ]).toEqual([2, 'Use --scope', 'prog mcp add --help'])
    expect((await run(['add', '--scope', 'world'])).status).toBe(2)
    expect((await run(['add', '{"scope":"world"}'])).status).toBe(65)
  })

  test('documents about it are given as well', async () => {
    expect((await run(['add', '--schema'])).json).toMatchObject({
      name: 'mcp_add',
      input_schema: { type: 'object' },
    })
  })
})

describe('a command that starts something [5.builtin-commands]', () => {
  test('gets the input checked and complete, the toolset of the author, and gives the status', async () => {
    started.length = 0
    const { status, stdout } = await run(['serve', '--transport', 'http', '--dry-run'])
    expect([status, stdout, started]).toEqual([
      7,
      '2 tools, dry\n',
      [{ transport: 'http', port: 8080 }],
    ])
  })

  test('reads JSON and the environment like a tool', async () => {
    started.length = 0
    await run(['serve', '{"transport":"stdio"}'])
    await run(['serve', '--transport', 'stdio'], { env: { PROG_PORT: '99' } })
    expect(started).toEqual([
      { transport: 'stdio', port: 8080 },
      { transport: 'stdio', port: 99 },
    ])
  })

  test('is not started with an input that does not fit', async () => {
    started.length = 0
    const ended = await Promise.all([
      run(['serve', '--transport', 'sse']),
      run(['serve']),
      run(['serve', '{"transport":"sse"}']),
      run(['serve', '--transport', 'http', '--prot', '1']),
    ])
    expect(ended.map(({ status, json }) => [status, json.error.code, json.meta.tool])).toEqual([
      [2, 'INVALID_INPUT', 'prog.mcp_serve'],
      [2, 'MISSING_PARAM', 'prog.mcp_serve'],
      [65, 'INVALID_INPUT', 'prog.mcp_serve'],
      [2, 'USAGE', 'prog.mcp_serve'],
    ])
    expect(started).toEqual([])
  })

  test('fails like a tool', async () => {
    const taken = await run(['serve', '--transport', 'http', '--port', '1'])
    expect([taken.status, taken.json.error]).toEqual([
      73,
      expect.objectContaining({ code: 'CONFLICT', message: 'port 1 is taken' }),
    ])
    expect(JSON.parse(taken.stderr)).toMatchObject({ error: { code: 'CONFLICT' } })
    const broken = await run(['serve', '--transport', 'http', '--port', '2'])
    expect([broken.status, broken.json.error.code]).toEqual([1, 'INTERNAL'])
  })
})

describe('which words are a built-in command', () => {
  const search = tool({
    name: 'search',
    summary: 'Searches',
    input: { type: 'object', properties: { query: { type: 'string' }, host: { type: 'string' } } },
    positional: ['query'],
  })
  const only = toolset(search)
  const kindOf = (set: typeof only, ...argv: string[]) => describeCommand(parseCommand(set, argv))

  test('a tool or a group of the name hides it [5.builtin-yields]', () => {
    expect(
      kindOf(toolset({ name: 'prog', tools: { completion: greet, greet } }), 'completion', 'bash'),
    ).toBe('tool completion')
    expect(
      kindOf(
        toolset({ name: 'prog', tools: { completion: { make: greet }, greet } }),
        'completion',
        'bash',
      ),
    ).toBe('group completion')
  })

  test('the only tool of a program gets the word, unless a sub-word follows [5.builtin-yields]', () => {
    expect(kindOf(only, 'completion')).toBe('tool search: completion')
    expect(kindOf(only, 'completion', 'bash')).toBe('builtin completion bash')
    expect(kindOf(only, 'completion', 'of', 'bash')).toBe('tool search: completion of bash')
    expect(kindOf(only, '--json', 'completion', 'bash')).toBe('builtin completion bash')
    expect(kindOf(only, '--', 'completion', 'bash')).toBe('tool search: -- completion bash')
    expect(
      kindOf(toolset(tool({ name: 'ping', summary: 'Pings', run: () => 1 })), 'completion'),
    ).toBe('builtin completion ')
  })

  test('completion offers both readings [5.builtin-yields]', async () => {
    const manifest = await only.manifest()
    const values = (...words: string[]) =>
      completeWords(manifest, words).candidates.map(({ value }) => value)
    expect(values('completion', '')).toEqual(['bash', 'zsh', 'fish', 'powershell'])
    expect(values('completion', '--ho')).toEqual(['--host'])
    expect(values('completion', 'bash', '--ho')).toEqual([])
    expect(values('completion', 'of', '--ho')).toEqual(['--host'])
  })

  test('--serve-mcp hands on all that follows, and the flags before it [5.serve-mcp-alias]', () => {
    expect(kindOf(program, '--serve-mcp', 'stdio')).toBe('builtin mcp serve --transport stdio')
    expect(
      kindOf(program, '--serve-mcp=http', '--host', '127.0.0.1', '--port', '80', '--whatever', 'x'),
    ).toBe('builtin mcp serve --transport http --host 127.0.0.1 --port 80 --whatever x')
    expect(kindOf(program, '--port', '80', '--progressive', '--serve-mcp', 'http', '--help')).toBe(
      'builtin mcp serve --transport http --port 80 --progressive --help',
    )
    expect(parseCommand(program, ['--json', '--serve-mcp', 'http']).globals.output).toBe('json')
    expect(
      kindOf(toolset({ name: 'prog', tools: { mcp: greet, greet } }), '--serve-mcp', 'stdio'),
    ).toBe('builtin mcp serve --transport stdio')
  })

  test('the only tool keeps its own fields, unless --serve-mcp came before [5.serve-mcp-alias]', () => {
    expect(kindOf(only, '--host', 'x', '--serve-mcp', 'http')).toBe(
      'tool search: --host x --serve-mcp http',
    )
    expect(kindOf(only, '--serve-mcp', 'http', '--host', 'x')).toBe(
      'builtin mcp serve --transport http --host x',
    )
    expect(kindOf(only, '--query', '--serve-mcp')).toBe('tool search: --query --serve-mcp')
  })

  test('flags for serving mean nothing without it [5.serve-mcp-alias]', () => {
    expect(parseCommand(program, ['--port', '80', 'greet']).problem?.message).toBe(
      'unknown flag --port',
    )
    expect(
      parseCommand(program, ['--port', '80', 'greet', '--serve-mcp', 'http']).problem?.message,
    ).toBe('--port goes with --serve-mcp, which stands too late here')
    expect(parseCommand(program, ['--serve-mcp']).problem?.message).toBe(
      '--serve-mcp needs a value: --serve-mcp <transport>',
    )
  })
})

test('sub-words and flags of built-in commands complete from their tools [5.builtin-commands]', async () => {
  const manifest = await createBuiltinToolset(commands, program, host()).manifest()
  const values = (...words: string[]) =>
    completeWords(manifest, words).candidates.map(({ value }) => value)
  expect(values('mcp', '')).toEqual(['add', 'serve'])
  expect(values('mcp', 'serve', '--tr')).toEqual(['--transport'])
  expect(values('mcp', 'serve', '--transport', '')).toEqual(['stdio', 'http'])
  const lone = await createBuiltinToolset(commands.slice(0, 1), program, host()).manifest()
  expect(completeWords(lone, ['mcp', 'a']).candidates).toEqual([
    { value: 'add', description: 'Adds a server' },
  ])
})

function describeCommand(command: ParsedCommand): string {
  if (command.kind === 'builtin') return `builtin ${command.name} ${command.rest.join(' ')}`
  if (command.kind === 'group') return `group ${command.path.join(' ')}`
  return command.kind === 'tool'
    ? `tool ${command.entry.name}${command.single ? `: ${command.tokens.join(' ')}` : ''}`
    : command.kind
}

function host(): CommandHost {
  return {
    signal: new AbortController().signal,
    prepareForTools: () => undefined,
    makeToolset: toolset,
    started: { execPath: 'node', execArgv: [], script: undefined },
  }
}

async function run(
  rest: readonly string[],
  {
    builtins = commands,
    env = {},
  }: { builtins?: readonly BuiltinCommand[]; env?: Record<string, string> } = {},
): Promise<{ status: number; stdout: string; stderr: string; json: any }> {
  const { io, stdout, stderr } = createFakeIo({ env, cwd: '/' })
  const status = await runMatchingBuiltin(
    builtins,
    program,
    { kind: 'builtin', name: 'mcp', rest, globals: {} },
    io,
    host(),
  )
  return {
    status,
    stdout: stdout.text,
    stderr: stderr.text,
    get json() {
      return JSON.parse(stdout.text)
    },
  }
}
