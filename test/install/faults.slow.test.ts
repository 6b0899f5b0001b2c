import { chmodSync, chownSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { fixture } from '../support/run-program.ts'
import { makeMachine } from './machine.ts'
import type { Machine } from './machine.ts'
import '../support/without-coverage.ts'

const preload = (name: string): string[] => ['--import', pathToFileURL(fixture(name)).href]
const BEFORE = '{\n  // ours\n  "mcpServers": {}\n}\n'

describe('broken files of others', () => {
  const broken: { [kind: string]: (machine: Machine) => void } = {
    'JSON that does not parse': (machine) =>
      void machine.write('project/.cursor/mcp.json', '{ "mcpServers": {'),
    'no object': (machine) => void machine.write('project/.cursor/mcp.json', '[]'),
    'a list of servers': (machine) =>
      void machine.write('project/.cursor/mcp.json', '{ "mcpServers": [] }'),
    'a key twice': (machine) =>
      void machine.write('project/.cursor/mcp.json', '{ "mcpServers": {}, "mcpServers": {} }'),
    'bytes that are no UTF-8': (machine) =>
      void machine.write('project/.cursor/mcp.json', new Uint8Array([0x7b, 0xff, 0x7d])),
    'UTF-16': (machine) =>
      void machine.write('project/.cursor/mcp.json', Buffer.from('\uFEFF{}', 'utf16le')),
    'brackets without end': (machine) =>
      void machine.write('project/.cursor/mcp.json', `{"a":${'['.repeat(200_000)}`),
    'a folder': (machine) =>
      void mkdirSync(join(machine.project, '.cursor/mcp.json'), { recursive: true }),
    'a link to nothing': (machine) => {
      mkdirSync(join(machine.project, '.cursor'))
      symlinkSync('nowhere', join(machine.project, '.cursor/mcp.json'))
    },
    'a link to itself': (machine) => {
      mkdirSync(join(machine.project, '.cursor'))
      symlinkSync('mcp.json', join(machine.project, '.cursor/mcp.json'))
    },
    'a file where the folder should be': (machine) => void machine.write('project/.cursor', 'x'),
    'a device': (machine) => {
      mkdirSync(join(machine.project, '.cursor'))
      symlinkSync('/dev/zero', join(machine.project, '.cursor/mcp.json'))
    },
  }

  test.each(Object.keys(broken))(
    '%s: told, left alone, and the other agents are done [5.mcp-add]',
    async (kind) => {
      const machine = makeMachine()
      broken[kind]!(machine)
      machine.write('project/.vscode/mcp.json', '{}')
      const untouched = machine.tree()
      const dry = await machine.run(
        'mcp',
        'add',
        '--agent',
        'cursor',
        '--agent',
        'vscode',
        '--dry-run',
      )
      expect([dry.status, dry.json.result.plan.map(({ action }: any) => action)]).toEqual([
        0,
        ['broken', 'add'],
      ])
      const { status, json } = await machine.run(
        'mcp',
        'add',
        '--agent',
        'cursor',
        '--agent',
        'vscode',
      )
      expect([status, json.status, json.summary, json.result.done]).toEqual([
        0,
        'partial',
        { total: 2, succeeded: 1, failed: 1, recoverable_failures: 1 },
        ['vscode'],
      ])
      expect(json.errors[0]).toMatchObject({
        code: 'CONFIG',
        message: expect.stringContaining('.cursor/mcp.json'),
        suggestion: { fix: expect.stringContaining('.cursor/mcp.json') },
      })
      expect(
        (await machine.run('mcp', 'list', '--scope', 'project')).json.result.map(
          ({ state }: any) => state,
        ),
      ).toEqual(['absent', 'absent', 'broken', 'installed'])
      expect((await machine.run('mcp', 'remove')).json).toMatchObject({
        status: 'partial',
        result: { done: ['vscode'] },
      })
      expect(machine.tree()).toEqual(untouched)
      const alone = await machine.run('mcp', 'add', '--agent', 'cursor')
      expect([alone.status, alone.json.ok, alone.json.error.code]).toEqual([78, false, 'CONFIG'])
    },
  )

  test('TOML that does not parse says where', async () => {
    const machine = makeMachine()
    machine.write('project/.codex/config.toml', 'model = "o9"\nmodel = "again"\n')
    const untouched = machine.tree()
    const { status, json } = await machine.run('mcp', 'add')
    expect([status, json.error.message]).toEqual([
      78,
      expect.stringMatching(
        /config\.toml is not valid TOML: .* at line 2, column 1; it was left alone$/,
      ),
    ])
    expect(machine.tree()).toEqual(untouched)
  })

  test('TOML that cannot be extended in place is not rewritten', async () => {
    const machine = makeMachine()
    machine.write('project/.codex/config.toml', 'mcp_servers = { other = { command = "x" } }\n')
    const untouched = machine.tree()
    expect((await machine.run('mcp', 'add')).json.error.message).toContain(
      'cannot be edited without changing more',
    )
    expect(machine.tree()).toEqual(untouched)
  })
})

describe('a disk that does not play along', () => {
  // Nothing is forbidden to root.
  async function asNobody<T>(work: () => Promise<T>): Promise<T> {
    if (process.getuid?.() !== 0) return work()
    process.seteuid!(65534)
    try {
      return await work()
    } finally {
      process.seteuid!(0)
    }
  }

  test('a folder or a file that is read-only is told, and stays as it is [5.mcp-add]', async () => {
    const machine = makeMachine()
    machine.write('project/.mcp.json', '{}')
    mkdirSync(join(machine.project, '.vscode'))
    for (const path of ['../..', '..', '']) chmodSync(join(machine.project, path), 0o755)
    if (process.getuid?.() === 0)
      for (const path of ['', '.mcp.json', '.vscode'])
        chownSync(join(machine.project, path), 65534, 65534)
    chmodSync(join(machine.project, '.mcp.json'), 0o444)
    chmodSync(join(machine.project, '.vscode'), 0o555)
    const untouched = machine.tree()
    const { status, json } = await asNobody(() =>
      machine.run('mcp', 'add', '--agent', 'claude-code', '--agent', 'vscode', '--agent', 'cursor'),
    )
    expect([status, json.status, json.result.done]).toEqual([0, 'partial', ['cursor']])
    expect(json.errors.map(({ code, message }: any) => [code, message])).toEqual([
      ['PERMISSION', expect.stringMatching(/\.mcp\.json may not be touched by this user$/)],
      ['PERMISSION', expect.stringMatching(/\.vscode.mcp\.json may not be touched by this user$/)],
    ])
    await asNobody(() => machine.run('mcp', 'remove'))
    expect(machine.tree()).toEqual(untouched)
  })

  test.each([
    ['renameSync', 'ENOSPC', 'DISK_FULL'],
    ['writeFileSync', 'ENOSPC', 'DISK_FULL'],
    ['renameSync', 'EACCES', 'PERMISSION'],
    ['renameSync', 'EBUSY', 'CONFLICT'],
    ['linkSync', 'EIO', 'INTERNAL'],
  ])('%s fails with %s: the old file is there, and nothing else', async (call, code, expected) => {
    const machine = makeMachine()
    machine.write('project/.mcp.json', BEFORE)
    const untouched = machine.tree()
    const { json } = await machine.spawn(
      ['mcp', 'add'],
      { FAIL_CALL: call, FAIL_CODE: code, FAIL_IN: machine.project },
      preload('disk-that-fails.mjs'),
    )
    expect([json.ok, json.error.code]).toEqual([false, expected])
    expect(machine.tree()).toEqual(untouched)
  })

  test('a file system without links will do', async () => {
    const machine = makeMachine()
    const untouched = machine.tree()
    for (const command of ['add', 'remove']) {
      const { status } = await machine.spawn(
        ['mcp', command, '--agent', 'cursor'],
        { FAIL_CALL: 'linkSync', FAIL_CODE: 'EPERM', FAIL_IN: machine.project },
        preload('disk-that-fails.mjs'),
      )
      expect(status).toBe(0)
      expect(machine.tree()['project/.cursor/mcp.json'] !== undefined).toBe(command === 'add')
    }
    expect(machine.tree()).toEqual(untouched)
  })

  test('folders that were made for nothing go away again', async () => {
    const machine = makeMachine()
    const untouched = machine.tree()
    const { json } = await machine.spawn(
      ['mcp', 'add', '--scope', 'user', '--agent', 'vscode'],
      { FAIL_CALL: 'linkSync', FAIL_CODE: 'ENOSPC', FAIL_IN: 'mcp.json' },
      preload('disk-that-fails.mjs'),
    )
    expect(json.error.code).toBe('DISK_FULL')
    expect(machine.tree()).toEqual(untouched)
  })
})

describe('killed at any moment', () => {
  const ours = (tree: { readonly [path: string]: string }): string[] =>
    Object.keys(tree).filter((path) => path.includes('.toolable'))

  test.each([['add'], ['remove']])(
    'mcp %s leaves the old file or the new one, and the next run cleans up [5.mcp-add]',
    async (command) => {
      const states = new Set<string>()
      for (let at = 1; ; at++) {
        const machine = makeMachine()
        machine.write('project/.mcp.json', BEFORE)
        if (command === 'remove') await machine.run('mcp', 'add')
        const old = machine.read('project/.mcp.json')
        const { signal } = await machine.spawn(
          ['mcp', command],
          { DIE_AT: String(at), DIE_IN: machine.project },
          preload('dies-at-a-write.mjs'),
        )
        const now = machine.read('project/.mcp.json')
        states.add(
          now === old
            ? 'old'
            : now === BEFORE ||
                JSON.parse(now.replace('// ours', '')).mcpServers['file-tools'].command
              ? 'new'
              : 'half',
        )
        if (signal === null) break
        expect((await machine.run('mcp', 'add', '--arg', 'again')).status).toBe(0)
        expect((await machine.run('mcp', 'remove')).status).toBe(0)
        expect(machine.read('project/.mcp.json')).toBe(BEFORE)
        expect(ours(machine.tree())).toEqual([])
      }
      expect(states).toEqual(new Set(['old', 'new']))
    },
  )

  test.each([
    ['add', undefined],
    ['add', 'Another summary'],
    ['remove', undefined],
  ])(
    'skills %s (%s) never looks like the work of somebody else [5.skills-add]',
    async (command, summary) => {
      for (let at = 1; ; at++) {
        const machine = makeMachine()
        mkdirSync(join(machine.project, '.agents'))
        const untouched = machine.tree()
        if (command === 'remove' || summary !== undefined) await machine.run('skills', 'add')
        const { signal } = await machine.spawn(
          ['skills', command],
          {
            DIE_AT: String(at),
            DIE_IN: machine.project,
            ...(summary !== undefined && { SUMMARY: summary }),
          },
          preload('dies-at-a-write.mjs'),
        )
        if (signal === null) {
          expect(at).toBeGreaterThan(5)
          break
        }
        expect((await machine.run('skills', 'add')).status).toBe(0)
        expect(
          (await machine.run('skills', 'list', '--scope', 'project', '--agent', 'shared')).json
            .result[0].state,
        ).toBe('current')
        expect((await machine.run('skills', 'remove')).status).toBe(0)
        // A folder that was made before the kill is nobody's afterwards.
        expect(Object.entries(machine.tree()).filter(([, kind]) => kind !== 'folder')).toEqual(
          Object.entries(untouched).filter(([, kind]) => kind !== 'folder'),
        )
      }
    },
  )
})

describe('several at once', () => {
  test('nobody loses an entry, coming or going [5.mcp-add]', async () => {
    const machine = makeMachine()
    machine.write('project/.mcp.json', BEFORE)
    const names = ['a', 'b', 'c', 'd', 'e']
    const added = await Promise.all(
      names.map((name) => machine.spawn(['mcp', 'add', '--name', name])),
    )
    expect(added.map(({ status }) => status)).toEqual(names.map(() => 0))
    expect(
      Object.keys(
        JSON.parse(machine.read('project/.mcp.json').replace('// ours', '')).mcpServers,
      ).sort(),
    ).toEqual(names)
    const removed = await Promise.all(
      names.map((name) => machine.spawn(['mcp', 'remove', '--name', name])),
    )
    expect(removed.map(({ status }) => status)).toEqual(names.map(() => 0))
    expect(machine.read('project/.mcp.json')).toBe(BEFORE)
  })

  test('the last one to go takes along what the first one made [5.mcp-add]', async () => {
    const machine = makeMachine()
    const untouched = machine.tree()
    const names = ['a', 'b', 'c', 'd']
    const all = async (command: string): Promise<(number | null)[]> =>
      (
        await Promise.all(
          names.map((name) => machine.spawn(['mcp', command, '--agent', 'cursor', '--name', name])),
        )
      ).map(({ status }) => status)
    expect(await all('add')).toEqual([0, 0, 0, 0])
    expect(
      Object.keys(JSON.parse(machine.read('project/.cursor/mcp.json')).mcpServers).sort(),
    ).toEqual(names)
    expect(await all('remove')).toEqual([0, 0, 0, 0])
    expect(machine.tree()).toEqual(untouched)
  })

  test('skills are written by one after the other [5.skills-add]', async () => {
    const machine = makeMachine()
    const untouched = machine.tree()
    const together = async (command: string): Promise<string[]> =>
      (
        await Promise.all(
          [1, 2, 3, 4].map(() => machine.spawn(['skills', command, '--agent', 'shared'])),
        )
      )
        .map(({ json }) => json.result.plan[0].action)
        .sort()
    expect(await together('add')).toEqual(['add', 'unchanged', 'unchanged', 'unchanged'])
    expect(await together('remove')).toEqual(['remove', 'unchanged', 'unchanged', 'unchanged'])
    expect(machine.tree()).toEqual(untouched)
  })

  test('what an agent writes meanwhile is kept', async () => {
    const machine = makeMachine()
    const file = machine.write('project/.mcp.json', '{ "mcpServers": {} }')
    const { status } = await machine.spawn(
      ['mcp', 'add'],
      { FILE: file },
      preload('writes-in-between.mjs'),
    )
    expect(status).toBe(0)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      'by-another-0': 1,
      mcpServers: { 'file-tools': {} },
    })
  })

  test('a file that never rests is given up, with its last content', async () => {
    const machine = makeMachine()
    const file = machine.write('project/.mcp.json', '{ "mcpServers": {} }')
    const { status, json } = await machine.spawn(
      ['mcp', 'add'],
      { FILE: file, TIMES: '99' },
      preload('writes-in-between.mjs'),
    )
    expect([status, json.error]).toMatchObject([73, { code: 'CONFLICT', retryable: true }])
    expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')))).toHaveLength(6)
  })
})
