import { chmodSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeMachine, program } from './machine.ts'
import type { Machine } from './machine.ts'

const FILES = {
  'claude-code': { project: 'project/.mcp.json', user: 'home/.claude.json', key: 'mcpServers' },
  codex: {
    project: 'project/.codex/config.toml',
    user: 'home/.codex/config.toml',
    key: 'mcp_servers',
  },
  cursor: { project: 'project/.cursor/mcp.json', user: 'home/.cursor/mcp.json', key: 'mcpServers' },
  vscode: {
    project: 'project/.vscode/mcp.json',
    user: 'home/.config/Code/User/mcp.json',
    key: 'servers',
  },
} as const
type AgentName = keyof typeof FILES
const AGENTS = Object.keys(FILES) as AgentName[]
const SCOPES = ['project', 'user'] as const

const JSON_BEFORE = (key: string): { [kind: string]: string | undefined } => ({
  'no file': undefined,
  'an empty file': '',
  'an empty object': '{}',
  'comments, tabs, CRLF and a byte order mark': `\uFEFF// ours\r\n{\r\n\t"theme": "dark", // keep\r\n\t"${key}": {\r\n\t\t/* a */ "other": { "command": "x" }, // the other\r\n\t},\r\n}\r\n`,
  'another server on one line': `{"${key}":{"other":{"command":"x"}}}`,
})
const TOML_BEFORE: { [kind: string]: string | undefined } = {
  'no file': undefined,
  'an empty file': '',
  'comments, CRLF and a byte order mark':
    '\uFEFF# mine\r\nmodel = "o9" # why\r\n\r\n[mcp_servers.other]\r\ncommand = "x"\r\n\r\n# the end\r\n',
  'no last line end': 'model = "o9"',
}

async function planOf(machine: Machine, ...argv: string[]): Promise<any[]> {
  const { json } = await machine.run(...argv)
  return json.result.plan.map(({ action, target, details }: any) => [
    details.agents.join(),
    action,
    target.slice(machine.home.length - 'home'.length),
  ])
}

describe.each(AGENTS)('%s', (agent) => {
  const { key } = FILES[agent]
  const before = agent === 'codex' ? TOML_BEFORE : JSON_BEFORE(key)
  const cases = SCOPES.flatMap((scope) =>
    Object.entries(before).map(([kind, text]) => ({ scope, kind, text })),
  )

  test.each(cases)(
    'add, add again, update and remove with $kind ($scope) leave everything as it was [5.mcp-add]',
    async ({ scope, text }) => {
      const machine = makeMachine()
      const file = FILES[agent][scope]
      if (text !== undefined) machine.write(file, text)
      const untouched = machine.tree()
      const args = ['--scope', scope, '--agent', agent]

      const dry = await machine.run('mcp', 'add', ...args, '--dry-run')
      expect([dry.status, dry.json.meta.dry_run, dry.json.result.plan[0].action]).toEqual([
        0,
        true,
        'add',
      ])
      expect(machine.tree()).toEqual(untouched)

      const added = await machine.run('mcp', 'add', ...args)
      expect([added.status, added.json.result.plan, added.json.result.done]).toEqual([
        0,
        dry.json.result.plan,
        [agent],
      ])
      const list = await machine.run('mcp', 'list', ...args)
      expect(list.json.result).toMatchObject([
        { agent, detected: true, scope, name: 'file-tools', state: 'installed' },
      ])

      const installed = machine.tree()
      expect((await machine.run('mcp', 'add', ...args)).json.result.plan[0].action).toBe(
        'unchanged',
      )
      expect(machine.tree()).toEqual(installed)

      const updated = await machine.run(
        'mcp',
        'add',
        ...args,
        '--arg',
        '--progressive',
        '--env',
        'A=b c',
      )
      expect(updated.json.result.plan[0].action).toBe('update')
      expect(machine.read(file)).toContain('--progressive')
      if (text?.includes('other')) expect(machine.read(file)).toContain('"x"')

      const planned = await machine.run('mcp', 'remove', ...args, '--dry-run')
      expect(planned.json.result.plan[0].action).toBe('remove')
      const removed = await machine.run('mcp', 'remove', ...args)
      expect([removed.status, removed.json.result.plan]).toEqual([0, planned.json.result.plan])
      expect(machine.tree()).toEqual(untouched)
      expect((await machine.run('mcp', 'remove', ...args)).json.result.plan[0].action).toBe(
        'unchanged',
      )
    },
  )

  test('an entry of somebody else is left alone, byte for byte, until --force [5.mcp-add]', async () => {
    const machine = makeMachine()
    const file = FILES[agent].project
    machine.write(
      file,
      agent === 'codex'
        ? '[mcp_servers.file-tools] # mine\ncommand = "theirs"\n'
        : `{ "${key}": { "file-tools": { "command": "theirs" /* mine */ } } }`,
    )
    const untouched = machine.tree()
    const dry = await machine.run('mcp', 'add', '--dry-run')
    expect([dry.status, dry.json.result.plan[0].action]).toEqual([0, 'conflict'])
    const { status, json, stderr } = await machine.run('mcp', 'add')
    expect([status, json.error.code, json.error.message]).toEqual([
      73,
      'CONFLICT',
      expect.stringContaining("'file-tools' was written by somebody else"),
    ])
    expect(json.error.suggestion.example).toBe('file-tools mcp add --force')
    expect(stderr).toContain('CONFLICT')
    expect(
      (await machine.run('mcp', 'list', '--scope', 'project', '--agent', agent)).json.result[0],
    ).toMatchObject({ state: 'foreign', reason: expect.stringContaining('somebody else') })
    for (const force of [[], ['--force']]) {
      const removal = await machine.run('mcp', 'remove', ...force)
      expect([removal.status, removal.json.error.code]).toEqual([73, 'CONFLICT'])
    }
    expect(machine.tree()).toEqual(untouched)
    expect((await machine.run('mcp', 'add', '--force')).json.result.plan[0].action).toBe('update')
    expect(machine.read(file)).not.toContain('theirs')
    expect((await machine.run('mcp', 'remove')).status).toBe(0)
    expect(machine.read(file)).not.toContain('file-tools')
  })

  test('an entry of ours that somebody changed stays until --force [5.mcp-add]', async () => {
    const machine = makeMachine()
    const file = FILES[agent].project
    await machine.run('mcp', 'add', '--agent', agent, '--arg', 'as-installed')
    machine.write(file, machine.read(file).replace('as-installed', 'by-hand'))
    const changed = machine.tree()
    expect(
      (await machine.run('mcp', 'list', '--scope', 'project', '--agent', agent)).json.result[0]
        .state,
    ).toBe('edited')
    for (const command of ['add', 'remove']) {
      const { status, json } = await machine.run('mcp', command, '--agent', agent)
      expect([status, json.error.message]).toEqual([
        73,
        expect.stringContaining('was changed by somebody after it was installed'),
      ])
      expect(json.error.suggestion.example).toBe(
        `file-tools mcp ${command} --agent ${agent} --force`,
      )
    }
    expect(machine.tree()).toEqual(changed)
    expect((await machine.run('mcp', 'remove', '--agent', agent, '--force')).status).toBe(0)
    expect(Object.values(machine.tree())).toEqual(['folder', 'folder'])
  })
})

describe('what is written', () => {
  const ENTRY = { args: ['--serve-mcp', 'stdio'], command: 'file-tools' }

  test('is what each agent understands, for a program that it starts [5.mcp-add]', async () => {
    const machine = makeMachine()
    await machine.run('mcp', 'add', ...AGENTS.flatMap((agent) => ['--agent', agent]))
    const json = (path: string): any => JSON.parse(machine.read(path))
    expect(json('project/.mcp.json')).toEqual({
      mcpServers: {
        'file-tools': {
          type: 'stdio',
          ...ENTRY,
          env: { TOOLABLE_INSTALLED: expect.stringMatching(/^file-tools [0-9a-f]{16} file$/) },
        },
      },
    })
    expect(json('project/.cursor/mcp.json')).toEqual({
      mcpServers: {
        'file-tools': {
          type: 'stdio',
          ...ENTRY,
          env: {
            TOOLABLE_INSTALLED: expect.stringMatching(/^file-tools [0-9a-f]{16} file,folders=1$/),
          },
        },
      },
    })
    expect(json('project/.vscode/mcp.json')).toEqual({
      servers: {
        'file-tools': { type: 'stdio', ...ENTRY, env: { TOOLABLE_INSTALLED: expect.any(String) } },
      },
    })
    expect(machine.read('project/.codex/config.toml').replace(/[0-9a-f]{16}/, '<digest>')).toBe(
      '[mcp_servers.file-tools]\ncommand = "file-tools"\nargs = ["--serve-mcp", "stdio"]\nenv = { TOOLABLE_INSTALLED = "file-tools <digest> file,folders=1" }\n',
    )
  })

  test('is what each agent understands, for a program that is served over HTTP [5.mcp-add]', async () => {
    const machine = makeMachine()
    await machine.run(
      'mcp',
      'add',
      '--url',
      'http://127.0.0.1:8080/mcp',
      ...AGENTS.flatMap((agent) => ['--agent', agent]),
    )
    const json = (path: string): any => JSON.parse(machine.read(path))
    const headers = { 'Toolable-Installed': expect.any(String) }
    expect(json('project/.mcp.json').mcpServers['file-tools']).toEqual({
      type: 'http',
      url: 'http://127.0.0.1:8080/mcp',
      headers,
    })
    expect(json('project/.cursor/mcp.json').mcpServers['file-tools']).toEqual({
      url: 'http://127.0.0.1:8080/mcp',
      headers,
    })
    expect(json('project/.vscode/mcp.json').servers['file-tools']).toEqual({
      type: 'http',
      url: 'http://127.0.0.1:8080/mcp',
      headers,
    })
    expect(machine.read('project/.codex/config.toml')).toMatch(
      /^\[mcp_servers\.file-tools\]\nurl = "http:\/\/127\.0\.0\.1:8080\/mcp"\nhttp_headers = \{ Toolable-Installed = "[^"]+" \}\n$/,
    )
    expect(
      (await machine.run('mcp', 'list', '--scope', 'project')).json.result.map(
        ({ state }: any) => state,
      ),
    ).toEqual(['installed', 'installed', 'installed', 'installed'])
    await machine.run('mcp', 'remove')
    expect(Object.values(machine.tree())).toEqual(['folder', 'folder'])
  })

  test('takes the command, arguments, environment and name that are given [5.mcp-add]', async () => {
    const machine = makeMachine()
    await machine.run(
      'mcp',
      'add',
      '--agent',
      'claude-code',
      '--name',
      'Team_Files',
      '--command',
      'npx',
      '--arg',
      '-y',
      '--arg',
      'file-tools',
      '--env',
      'ROOT=/a b',
      '--env',
      'EMPTY=',
    )
    const entry = JSON.parse(machine.read('project/.mcp.json')).mcpServers.Team_Files
    expect(entry).toMatchObject({
      command: 'npx',
      args: ['-y', 'file-tools', '--serve-mcp', 'stdio'],
      env: { ROOT: '/a b', EMPTY: '' },
    })
    expect(await planOf(machine, 'mcp', 'remove')).toEqual([
      ['claude-code', 'remove', 'project/.mcp.json'],
    ])
    expect(Object.values(machine.tree())).toEqual(['folder', 'folder'])
  })

  test('what somebody else wrote the same way is what was asked for, and stays theirs', async () => {
    const machine = makeMachine()
    machine.write(
      'project/.mcp.json',
      '{ "mcpServers": { "file-tools": { "args": ["--serve-mcp", "stdio"], "command": "file-tools", "type": "stdio" } } }',
    )
    const untouched = machine.tree()
    expect(await planOf(machine, 'mcp', 'add')).toEqual([
      ['claude-code', 'unchanged', 'project/.mcp.json'],
    ])
    expect((await machine.run('mcp', 'remove')).status).toBe(73)
    expect(machine.tree()).toEqual(untouched)
  })
})

describe('several at one file', () => {
  const texts = [
    '{}',
    '{ "mcpServers": {} }',
    undefined,
    '{\n  "mcpServers": {\n    "other": {}\n  }\n}\n',
  ]
  test.each(texts)('two programs come and go in any order (%j) [5.mcp-add]', async (text) => {
    for (const order of [
      ['one', 'two'],
      ['two', 'one'],
    ]) {
      const machine = makeMachine()
      if (text !== undefined) machine.write('project/.mcp.json', text)
      const untouched = machine.tree()
      for (const name of ['one', 'two'])
        expect(
          (await machine.runAs(program(name), 'mcp', 'add', '--agent', 'claude-code')).status,
        ).toBe(0)
      expect(Object.keys(JSON.parse(machine.read('project/.mcp.json')).mcpServers)).toEqual(
        expect.arrayContaining(['one', 'two']),
      )
      for (const name of order)
        expect((await machine.runAs(program(name), 'mcp', 'remove')).status).toBe(0)
      expect(machine.tree()).toEqual(untouched)
    }
  })

  test('a program leaves the entry of another alone, also under its own name', async () => {
    const machine = makeMachine()
    await machine.runAs(
      program('one'),
      'mcp',
      'add',
      '--agent',
      'claude-code',
      '--name',
      'file-tools',
    )
    const { status, json } = await machine.run('mcp', 'add', '--agent', 'claude-code')
    expect([status, json.error.message]).toEqual([
      73,
      expect.stringContaining('belongs to the program one'),
    ])
    expect((await machine.run('mcp', 'remove')).status).toBe(73)
    expect((await machine.runAs(program('one'), 'mcp', 'remove')).status).toBe(0)
    expect(Object.values(machine.tree())).toEqual(['folder', 'folder'])
  })

  test('one program under several names is listed, and taken out, under each', async () => {
    const machine = makeMachine()
    for (const name of ['a', 'b'])
      await machine.run('mcp', 'add', '--agent', 'cursor', '--name', name)
    expect(
      (await machine.run('mcp', 'list', '--scope', 'project', '--agent', 'cursor')).json.result.map(
        ({ name, state }: any) => `${name} ${state}`,
      ),
    ).toEqual(['file-tools absent', 'a installed', 'b installed'])
    expect(await planOf(machine, 'mcp', 'remove', '--name', 'a')).toEqual([
      ['cursor', 'remove', 'project/.cursor/mcp.json'],
    ])
    expect(machine.read('project/.cursor/mcp.json')).toContain('"b"')
    await machine.run('mcp', 'remove')
    expect(Object.values(machine.tree())).toEqual(['folder', 'folder'])
  })
})

describe('an agent that rewrites its file', () => {
  test('keeps the mark: Codex writes tables for what was inline [5.mcp-add]', async () => {
    const machine = makeMachine()
    await machine.run('mcp', 'add', '--agent', 'codex')
    const mark = /"(file-tools [^"]+)"/.exec(machine.read('project/.codex/config.toml'))![1]
    const other = '[mcp_servers.other]\ncommand = "echo"\nargs = ["hi"]\n'
    machine.write(
      'project/.codex/config.toml',
      `[mcp_servers.file-tools]\ncommand = "file-tools"\nargs = ["--serve-mcp", "stdio"]\n\n[mcp_servers.file-tools.env]\nTOOLABLE_INSTALLED = "${mark}"\n\n${other}`,
    )
    expect(
      (await machine.run('mcp', 'list', '--scope', 'project', '--agent', 'codex')).json.result[0]
        .state,
    ).toBe('installed')
    expect(await planOf(machine, 'mcp', 'add', '--agent', 'codex')).toEqual([
      ['codex', 'unchanged', 'project/.codex/config.toml'],
    ])
    expect(await planOf(machine, 'mcp', 'remove')).toEqual([
      ['codex', 'remove', 'project/.codex/config.toml'],
    ])
    expect(machine.read('project/.codex/config.toml')).toBe(other)
  })

  test('keeps the mark: Claude Code writes its own keys around ours [5.mcp-add]', async () => {
    const machine = makeMachine()
    await machine.run('mcp', 'add', '--agent', 'claude-code', '--scope', 'user')
    const { mcpServers } = JSON.parse(machine.read('home/.claude.json'))
    machine.write(
      'home/.claude.json',
      JSON.stringify({ numStartups: 1, mcpServers, userID: 'x' }, null, 2),
    )
    expect((await machine.run('mcp', 'remove', '--scope', 'user')).status).toBe(0)
    expect(machine.read('home/.claude.json')).toBe(
      JSON.stringify({ numStartups: 1, userID: 'x' }, null, 2),
    )
  })
})

describe('the agents of a machine', () => {
  test('are found by their folders, files and programs [5.mcp-add]', async () => {
    const machine = makeMachine()
    const bin = join(machine.project, 'bin')
    mkdirSync(bin)
    for (const [name, mode] of [
      ['codex', 0o755],
      ['code', 0o644],
    ] as const)
      writeFileSync(join(bin, name), '#!/bin/sh\n', { mode })
    mkdirSync(join(machine.home, '.cursor'))
    machine.env['PATH'] = bin
    expect((await planOf(machine, 'mcp', 'add', '--dry-run')).map(([agent]) => agent)).toEqual([
      'codex',
      'cursor',
    ])
    const listed = (await machine.run('mcp', 'list')).json.result
    expect(Object.fromEntries(listed.map(({ agent, detected }: any) => [agent, detected]))).toEqual(
      { 'claude-code': false, codex: true, cursor: true, vscode: false },
    )
    expect(listed).toHaveLength(8)
  })

  test('are looked for where the environment says [5.mcp-add]', async () => {
    const machine = makeMachine()
    Object.assign(machine.env, {
      CLAUDE_CONFIG_DIR: join(machine.home, 'claude'),
      CODEX_HOME: join(machine.home, 'codex'),
      XDG_CONFIG_HOME: join(machine.home, 'config'),
    })
    const files = (await machine.run('mcp', 'list', '--scope', 'user')).json.result.map(
      ({ file }: any) => file.slice(machine.home.length + 1),
    )
    expect(files).toEqual([
      'claude/.claude.json',
      'codex/config.toml',
      '.cursor/mcp.json',
      'config/Code/User/mcp.json',
    ])
    const skills = (await machine.run('skills', 'list', '--scope', 'user')).json.result.map(
      ({ folder }: any) => folder.slice(machine.home.length + 1),
    )
    expect(new Set(skills)).toEqual(
      new Set(['claude/skills/file-tools', '.agents/skills/file-tools']),
    )
  })

  test('none is a clear error with the way out', async () => {
    const machine = makeMachine()
    for (const group of ['mcp', 'skills']) {
      const { status, json } = await machine.run(group, 'add')
      expect([status, json.error.code, json.error.suggestion.example]).toEqual([
        66,
        'NOT_FOUND',
        `file-tools ${group} add --agent claude-code`,
      ])
      expect((await machine.run(group, 'remove')).json).toMatchObject({
        ok: true,
        result: { plan: [] },
        message: expect.stringContaining('installed here'),
      })
    }
    expect(Object.values(machine.tree())).toEqual(['folder', 'folder'])
  })

  test('are a table on a terminal', async () => {
    const machine = makeMachine()
    await machine.run('mcp', 'add', '--agent', 'codex')
    const { stdout } = await machine.run('mcp', 'list', '--scope', 'project', '--output', 'text')
    expect(
      stdout
        .replaceAll(machine.project, '.')
        .split('\n')
        .map((line) => line.trim().split(/ {2,}/)),
    ).toEqual([
      ['agent', 'detected', 'scope', 'name', 'state', 'file'],
      ['claude-code', 'false', 'project', 'file-tools', 'absent', './.mcp.json'],
      ['codex', 'true', 'project', 'file-tools', 'installed', './.codex/config.toml'],
      ['cursor', 'false', 'project', 'file-tools', 'absent', './.cursor/mcp.json'],
      ['vscode', 'false', 'project', 'file-tools', 'absent', './.vscode/mcp.json'],
      [''],
    ])
  })
})

describe('bad input', () => {
  test.each([
    [['--agent', 'claude'], 2, 'claude-code'],
    [['--scope', 'machine'], 2, 'scope'],
    [['--name', 'a b'], 2, 'name'],
    [['--env', 'NOVALUE'], 2, "'NOVALUE' is not NAME=value"],
    [['--env', 'TOOLABLE_INSTALLED=x'], 2, 'cannot be set'],
    [['--transport', 'http'], 2, 'needs an address'],
    [['--transport', 'sse'], 2, 'http'],
    [['--url', 'ftp://x'], 2, 'not an http or https address'],
    [['--url', 'nonsense'], 2, 'not an http or https address'],
    [['--url', 'http://x', '--command', 'y'], 2, 'not started by the agent'],
    [['--url', 'http://x', '--transport', 'stdio'], 2, 'has no address'],
    [['--comand', 'y'], 2, '--command'],
  ])('%j is refused, and nothing is written', async (args, status, words) => {
    const machine = makeMachine()
    const answer = await machine.run(
      'mcp',
      'add',
      ...(args[0] === '--agent' ? [] : ['--agent', 'codex']),
      ...args,
    )
    expect([answer.status, JSON.stringify(answer.json.error)]).toEqual([
      status,
      expect.stringContaining(words),
    ])
    expect(Object.values(machine.tree())).toEqual(['folder', 'folder'])
  })
})

describe('links and modes', () => {
  test('a linked file is edited where it is, and keeps its mode [5.mcp-add]', async () => {
    const machine = makeMachine()
    const target = machine.write('home/dotfiles/claude.json', '{}')
    chmodSync(target, 0o640)
    symlinkSync(target, join(machine.project, '.mcp.json'))
    const untouched = machine.tree()
    await machine.run('mcp', 'add')
    expect(lstatSync(join(machine.project, '.mcp.json')).isSymbolicLink()).toBe(true)
    expect(lstatSync(target).mode & 0o777).toBe(0o640)
    expect(readFileSync(target, 'utf8')).toContain('file-tools')
    await machine.run('mcp', 'remove')
    expect(machine.tree()).toEqual(untouched)
  })

  test('a new file of the user is for the user alone', async () => {
    const machine = makeMachine()
    await machine.run('mcp', 'add', '--scope', 'user', '--agent', 'claude-code')
    expect(lstatSync(join(machine.home, '.claude.json')).mode & 0o777).toBe(0o600)
  })
})
