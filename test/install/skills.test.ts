import { mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { tool, toolset } from 'toolable'
import { describe, expect, test } from 'vitest'
import { makeMachine, program } from './machine.ts'
import type { Machine } from './machine.ts'

const FOLDERS = {
  'claude-code': '.claude/skills',
  codex: '.agents/skills',
  cursor: '.agents/skills',
  vscode: '.agents/skills',
  shared: '.agents/skills',
} as const
const AGENTS = Object.keys(FOLDERS) as (keyof typeof FOLDERS)[]
const SKILL = 'project/.agents/skills/file-tools'

// More than twenty tools, so that the skill has references.
const big = (count: number) =>
  toolset({
    name: 'file-tools',
    tools: Array.from({ length: count }, (_, index) =>
      tool({
        name: `tool_${index}`,
        summary: `Do thing ${index}`,
        tags: [`t${index % 5}`],
        run: () => index,
      }),
    ),
  })

async function stateOf(machine: Machine, agent = 'shared'): Promise<unknown> {
  const [{ state, reason }] = (
    await machine.run('skills', 'list', '--scope', 'project', '--agent', agent)
  ).json.result
  return reason === undefined ? state : [state, reason]
}

describe('a skill', () => {
  const cases = AGENTS.flatMap((agent) =>
    (['project', 'user'] as const).map((scope) => ({ agent, scope })),
  )
  test.each(cases)(
    'comes and goes without a trace: $agent, $scope [5.skills-add]',
    async ({ agent, scope }) => {
      const machine = makeMachine()
      const untouched = machine.tree()
      const args = ['--agent', agent, '--scope', scope]
      const dry = await machine.run('skills', 'add', ...args, '--dry-run')
      expect([dry.status, dry.json.meta.dry_run, machine.tree()]).toEqual([0, true, untouched])
      const { status, json } = await machine.run('skills', 'add', ...args)
      expect([status, json.result]).toEqual([0, { plan: dry.json.result.plan, done: [agent] }])
      const folder = `${scope === 'project' ? 'project' : 'home'}/${FOLDERS[agent]}/file-tools`
      expect(json.result.plan).toMatchObject([
        {
          action: 'add',
          target: expect.stringContaining(folder),
          details: { agents: [agent], files: ['SKILL.md'] },
        },
      ])
      expect(machine.read(`${folder}/SKILL.md`)).toMatch(/^---\nname: file-tools\n/)
      expect((await machine.run('skills', 'list', ...args)).json.result).toMatchObject([
        {
          agent,
          detected: ['claude-code', 'shared'].includes(agent),
          scope,
          name: 'file-tools',
          state: 'current',
        },
      ])
      const installed = machine.tree()
      expect((await machine.run('skills', 'add', ...args)).json.result.plan[0].action).toBe(
        'unchanged',
      )
      expect(machine.tree()).toEqual(installed)
      expect(
        (await machine.run('skills', 'remove', ...args, '--dry-run')).json.result.plan[0].action,
      ).toBe('remove')
      expect(machine.tree()).toEqual(installed)
      expect((await machine.run('skills', 'remove', ...args)).status).toBe(0)
      expect(machine.tree()).toEqual(untouched)
    },
  )

  test('is written once where several agents read one folder [5.skills-add]', async () => {
    const machine = makeMachine()
    const { json } = await machine.run(
      'skills',
      'add',
      ...AGENTS.flatMap((agent) => ['--agent', agent]),
    )
    expect(json.result.plan.map(({ details }: any) => details.agents)).toEqual([
      ['claude-code'],
      ['codex', 'cursor', 'vscode', 'shared'],
    ])
    expect(json.result.done).toEqual(AGENTS)
  })

  test('is written once where one folder of skills is a link to another', async () => {
    const machine = makeMachine()
    mkdirSync(join(machine.project, '.agents/skills'), { recursive: true })
    mkdirSync(join(machine.project, '.claude'))
    symlinkSync('../.agents/skills', join(machine.project, '.claude/skills'))
    const untouched = machine.tree()
    const { json } = await machine.run('skills', 'add')
    expect(json.result.plan.map(({ details }: any) => details.agents)).toEqual([
      ['claude-code', 'shared'],
    ])
    await machine.run('skills', 'remove')
    expect(machine.tree()).toEqual(untouched)
  })

  test('is stale when the program has changed, and brought up to date, also when it has fewer files then [5.skills-add]', async () => {
    const machine = makeMachine()
    mkdirSync(join(machine.project, '.agents'))
    const untouched = machine.tree()
    await machine.runAs(big(40), 'skills', 'add')
    expect(
      readdirSync(join(machine.project, '.agents/skills/file-tools/references')).length,
    ).toBeGreaterThan(1)
    expect(await stateOf(machine)).toBe('stale')
    machine.write(`${SKILL}/references/mine.md`, 'a note')
    expect((await machine.run('skills', 'add')).json.result.plan[0].action).toBe('update')
    expect(await stateOf(machine)).toBe('current')
    expect(readdirSync(join(machine.project, '.agents/skills/file-tools/references'))).toEqual([
      'mine.md',
    ])
    await machine.run('skills', 'remove')
    expect(Object.keys(machine.tree()).filter((path) => path.includes('file-tools/'))).toEqual([
      'project/.agents/skills/file-tools/references',
      'project/.agents/skills/file-tools/references/mine.md',
    ])
    rmSync(join(machine.project, '.agents/skills'), { recursive: true })
    expect(machine.tree()).toEqual(untouched)
  })

  test('that somebody changed stays until --force [5.skills-add]', async () => {
    const machine = makeMachine()
    await machine.run('skills', 'add', '--agent', 'shared')
    machine.write(`${SKILL}/SKILL.md`, `${machine.read(`${SKILL}/SKILL.md`)}\nA remark.\n`)
    const edited = machine.tree()
    expect(await stateOf(machine)).toEqual([
      'edited',
      'SKILL.md was changed by somebody after it was installed',
    ])
    for (const command of ['add', 'remove']) {
      const { status, json } = await machine.run('skills', command, '--agent', 'shared')
      expect([status, json.error.code, json.error.suggestion.example]).toEqual([
        73,
        'CONFLICT',
        `file-tools skills ${command} --agent shared --force`,
      ])
    }
    expect(machine.tree()).toEqual(edited)
    expect((await machine.run('skills', 'add', '--agent', 'shared', '--force')).status).toBe(0)
    expect(await stateOf(machine)).toBe('current')
    machine.write(`${SKILL}/SKILL.md`, 'all mine')
    expect((await machine.run('skills', 'remove', '--force')).status).toBe(0)
    expect(Object.values(machine.tree())).toEqual(['folder', 'folder'])
  })

  test('of somebody else is left alone; --force writes ours beside what is theirs [5.skills-add]', async () => {
    const machine = makeMachine()
    machine.write(`${SKILL}/SKILL.md`, 'theirs')
    machine.write(`${SKILL}/notes.md`, 'theirs too')
    const untouched = machine.tree()
    const { status, json } = await machine.run('skills', 'add')
    expect([status, json.error.message]).toEqual([
      73,
      expect.stringContaining('the folder was written by somebody else'),
    ])
    for (const force of [[], ['--force']])
      expect((await machine.run('skills', 'remove', ...force)).status).toBe(73)
    expect(machine.tree()).toEqual(untouched)
    await machine.run('skills', 'add', '--force')
    await machine.run('skills', 'remove')
    expect(machine.read(`${SKILL}/notes.md`)).toBe('theirs too')
  })

  test('of another program of the same name is left alone', async () => {
    const machine = makeMachine()
    await machine.runAs(program('file_tools'), 'skills', 'add', '--agent', 'shared')
    expect((await machine.run('skills', 'add')).json.error.message).toContain(
      'belongs to the program file_tools',
    )
  })

  test('is the same with other line ends, and a missing file is just written again', async () => {
    const machine = makeMachine()
    await machine.run('skills', 'add', '--agent', 'shared')
    machine.write(`${SKILL}/SKILL.md`, machine.read(`${SKILL}/SKILL.md`).replaceAll('\n', '\r\n'))
    expect(await stateOf(machine)).toBe('current')
    rmSync(join(machine.project, '.agents/skills/file-tools/SKILL.md'))
    expect(await stateOf(machine)).toBe('stale')
    expect((await machine.run('skills', 'add')).json.result.plan[0].action).toBe('update')
    expect(await stateOf(machine)).toBe('current')
  })

  test('does not write over a file that stands where a new one would go', async () => {
    const machine = makeMachine()
    await machine.run('skills', 'add', '--agent', 'shared')
    const reference = (await machine.runAs(big(40), 'skills', 'add', '--dry-run')).json.result
      .plan[0].details.files[1]
    machine.write(`${SKILL}/${reference}`, 'theirs')
    const { status, json } = await machine.runAs(big(40), 'skills', 'add')
    expect([status, json.error.message]).toEqual([
      73,
      expect.stringContaining(`${reference} was written by somebody else`),
    ])
    expect((await machine.runAs(big(40), 'skills', 'remove')).status).toBe(0)
    expect(machine.read(`${SKILL}/${reference}`)).toBe('theirs')
  })

  test('an empty folder that was there stays there', async () => {
    const machine = makeMachine()
    mkdirSync(join(machine.project, '.agents/skills/file-tools'), { recursive: true })
    const untouched = machine.tree()
    await machine.run('skills', 'add')
    expect(await stateOf(machine)).toBe('current')
    await machine.run('skills', 'remove')
    expect(machine.tree()).toEqual(untouched)
  })
})

describe('folders that are not what they seem', () => {
  test.each<[string, (machine: Machine) => void]>([
    ['a file', (machine) => void machine.write(SKILL, 'x')],
    [
      'a link',
      (machine) => symlinkSync(machine.home, join(machine.project, '.agents/skills/file-tools')),
    ],
    [
      'a link to itself',
      (machine) => symlinkSync('file-tools', join(machine.project, '.agents/skills/file-tools')),
    ],
  ])(
    '%s is told and left alone, and the other agents are done [5.skills-add]',
    async (_, build) => {
      const machine = makeMachine()
      mkdirSync(join(machine.project, '.agents/skills'), { recursive: true })
      build(machine)
      const untouched = machine.tree()
      const { status, json } = await machine.run(
        'skills',
        'add',
        '--force',
        '--agent',
        'shared',
        '--agent',
        'claude-code',
      )
      expect([status, json.status, json.result.done, json.errors[0].code]).toEqual([
        0,
        'partial',
        ['claude-code'],
        'CONFIG',
      ])
      expect(await stateOf(machine)).toEqual(['broken', expect.stringContaining('left alone')])
      await machine.run('skills', 'remove', '--agent', 'claude-code')
      expect(machine.tree()).toEqual(untouched)
    },
  )

  test('a link inside, or a marker that points outside, leads nowhere', async () => {
    const machine = makeMachine()
    mkdirSync(join(machine.project, '.agents'))
    await machine.runAs(big(40), 'skills', 'add')
    const secret = machine.write('home/secret', 'keep')
    const references = join(machine.project, '.agents/skills/file-tools/references')
    rmSync(references, { recursive: true })
    symlinkSync(machine.home, references)
    for (const command of ['add', 'remove'])
      expect((await machine.runAs(big(40), 'skills', command, '--force')).json.error).toMatchObject(
        { code: 'CONFIG', message: expect.stringContaining('holds a link at references') },
      )
    rmSync(references)
    machine.write(
      `${SKILL}/.toolable.json`,
      JSON.stringify({
        program: 'file-tools',
        files: { '../../../../home/secret': 'x', '/etc/passwd': 'x' },
        folders: 1,
      }),
    )
    expect((await machine.run('skills', 'remove', '--force')).status).toBe(73)
    expect(machine.read('home/secret')).toBe('keep')
    expect(secret).toContain('home')
  })
})

test('[5.skills-add] [5.mcp-add] an author may have the skill come and go with the server', async () => {
  const machine = makeMachine()
  const untouched = machine.tree()
  const set = toolset({
    name: 'file-tools',
    skillAutoGenerate: true,
    tools: [tool({ name: 'find', summary: 'Find files', run: () => [] })],
  })
  const args = ['--agent', 'claude-code', '--command', 'file-tools']
  const dry = await machine.runAs(set, 'mcp', 'add', ...args, '--dry-run')
  expect([
    dry.json.result.plan.map(({ action }: { action: string }) => action),
    machine.tree(),
  ]).toEqual([['add', 'add'], untouched])
  expect((await machine.runAs(set, 'mcp', 'add', ...args)).status).toBe(0)
  expect(machine.read('project/.claude/skills/file-tools/SKILL.md')).toContain('name: file-tools')
  expect(JSON.parse(machine.read('project/.mcp.json'))).toHaveProperty('mcpServers.file-tools')
  expect((await machine.runAs(set, 'mcp', 'remove', '--agent', 'claude-code')).status).toBe(0)
  expect(machine.tree()).toEqual(untouched)
})
