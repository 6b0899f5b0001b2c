import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { cleanEnvironment, fixture } from '../../support/run-program.ts'
import '../../support/without-coverage.ts'
import { makeProject } from '../../workflow/support.ts'
import type { Project } from '../../workflow/support.ts'
import { TOOLABLE_PATH } from '../../support/toolable-program.ts'
import { failureOf, openDashboard, untilOver } from './support.ts'
import { withoutSlow } from '../../support/problems.ts'

const MODULE = `
import { appendFileSync } from 'node:fs'
import { tool } from '${fixture('../../dist/index.js')}'
export const echo = tool({
  name: 'echo', summary: 'Gives its input back', description: 'All of it.',
  input: { type: 'object', properties: { text: { type: 'string' }, times: { type: 'integer', minimum: 1 }, loud: { type: 'boolean' }, tags: { type: 'array', items: { type: 'string' } }, deep: { type: 'object', properties: { a: { type: ['number', 'null'] } } } }, required: ['text'] },
  positional: ['text'], annotations: { readOnly: true },
  examples: [{ description: 'One word', input: { text: 'word' } }], errors: { E1001: { message: 'It was too loud' } },
  run: (input) => { appendFileSync('echoed', JSON.stringify(input) + '\\n'); return input },
})
export const wipe = tool({ name: 'wipe', summary: 'Wipes', annotations: { destructive: true }, dryRun: true, input: { type: 'object', properties: { what: { type: 'string' } }, required: ['what'] }, run: (input) => { appendFileSync('echoed', JSON.stringify(input) + '\\n'); return {} } })
`

const WORKFLOW = `name: flow
summary: Does two things
input: {type: object, properties: {who: {type: string}}, required: [who]}
steps:
  - {name: first, type: tool, tool: count, input: {name: "\${{ input.who }}"}}
  - name: every
    type: each
    items: [1, 2]
    as: item
    do:
      - {name: inner, type: tool, tool: count, input: {name: "x"}}
  - {name: never, type: tool, tool: count, when: "input.who == 'nobody'", input: {name: y}}
`

function makeFull(): Project {
  const project = makeProject({
    'workflow/count.sh':
      'inputs:\n  - {name: name, type: string, required: true}\n  - {name: log, type: string}\npermissions: {filesystem: {read: ["FOLDER/**"], write: ["FOLDER/**"]}, network: {egress_allow: ["api.example.com:443"]}}\n',
  })
  project.write('mod.mjs', MODULE)
  project.write('workflows/flow.yaml', WORKFLOW)
  project.write('workflows/broken.yaml', 'name: broken\nsteps:\n  - {name: a, type: tol}\n')
  project.write('toolable.yaml', 'folders: [tools]\nmodules: [mod.mjs]\nworkflows: [workflows]\n')
  return project
}

describe('the tools of a project', () => {
  test('are listed with source, health, rights and how they went, and what is none with its reason [10.catalogue-tools]', async () => {
    const project = makeFull()
    const { actions, catalogue } = openDashboard(project.folder)
    const started = await Promise.all([
      actions.start({ tool: 'count', input: { name: 'a' } }),
      actions.start({ tool: 'count', input: { name: 'b' } }),
      actions.start({ tool: 'flow', input: { who: 'me' } }),
    ])
    await Promise.all(started.map(({ run_id }) => untilOver(project, run_id)))
    await project.toolable(['run', 'count', '--log', 'x'])
    const { tools, problems, sources } = await catalogue.tools()
    const row = (id: string) => tools.find((tool) => tool.id === id)!
    expect(tools.map(({ id }) => id).sort()).toEqual([
      'mod.echo',
      'mod.wipe',
      'tools.count',
      'workflows.flow',
    ])
    expect(row('tools.count')).toMatchObject({
      name: 'count',
      source: 'tools',
      tier: 'manifest',
      version: '1.0.0',
      health: { state: 'ok' },
      permissions: [
        `read ${project.folder}/**`,
        `write ${project.folder}/**`,
        'egress api.example.com:443',
      ],
    })
    // Two by hand, three by the steps, and one that failed.
    expect([
      row('tools.count').runs,
      row('tools.count').week.at(-1),
      row('tools.count').week.length,
    ]).toEqual([6, { ok: 5, failed: 1 }, 7])
    expect(row('tools.count').p50_s).toBeGreaterThan(0)
    expect(row('workflows.flow')).toMatchObject({ kind: 'workflow', runs: 1 })
    expect([
      row('mod.echo').readonly,
      row('mod.wipe').destructive,
      row('mod.echo').permissions,
    ]).toEqual([true, true, undefined])
    expect(withoutSlow(problems)).toMatchObject([
      { source: 'workflows', location: expect.stringContaining('broken.yaml'), severity: 'error' },
    ])
    expect(sources.map(({ name, tools: count, problems: wrong }) => [name, count, wrong])).toEqual([
      ['tools', 1, 0],
      ['mod', 2, 0],
      ['workflows', 1, expect.any(Number)],
    ])
  })

  test('are there at once, whatever a dead server does, and come and go with their files [10.catalogue-live]', async () => {
    const project = makeFull()
    project.write(
      'toolable.yaml',
      `folders: [tools]\nmcpServers:\n  dead: {command: ${process.execPath}, args: [${fixture('servers/never-answers.mjs')}]}\n`,
    )
    const { catalogue } = openDashboard(project.folder)
    const { tools, problems } = await catalogue.tools()
    expect(tools.map(({ id }) => id)).toEqual(['tools.count'])
    expect(problems).toMatchObject([
      {
        source: 'dead',
        reason: 'loading',
        severity: 'warning',
        message: expect.stringContaining('has not answered yet'),
      },
    ])
    project.write('toolable.yaml', 'folders: [tools]\nmodules: [mod.mjs]\n')
    const again = await catalogue.rescan()
    expect([again.tools.map(({ id }) => id).sort(), withoutSlow(again.problems)]).toEqual([
      ['mod.echo', 'mod.wipe', 'tools.count'],
      [],
    ])
    project.write('toolable.yaml', 'folders: [tools\n')
    expect(await failureOf(catalogue.rescan())).toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining('toolable.yaml'),
    })
    expect((await catalogue.tools()).tools).toHaveLength(3)
    // Watched: nobody has to ask for another look.
    project.write(
      'tools/registry/later/tool.yaml',
      'name: later\nversion: 1.0.0\nentry: cli.sh\nprotocol_version: 1\n',
    )
    project.write('tools/later/cli.sh', '#!/bin/sh\necho\n')
    await expect
      .poll(async () => (await catalogue.tools()).tools.map(({ id }) => id))
      .toContain('tools.later')
  })

  test('are described as the command line, JSON Schema, MCP and a skill describe them [10.catalogue-tool]', async () => {
    const project = makeFull()
    const { catalogue } = openDashboard(project.folder)
    for (const id of ['mod.echo', 'tools.count', 'mod.wipe', 'workflows.flow']) {
      const [detail, help, schema] = await Promise.all([
        catalogue.tool(id),
        project.toolable(['call', id, '--help']),
        project.toolable(['schema', id]),
      ])
      expect(detail.help).toBe(help.stdout)
      expect(detail.input_schema).toEqual(schema.json.input)
      expect(detail.mcp).toMatchObject({
        name: detail.row.name,
        inputSchema: expect.objectContaining({ type: 'object' }),
      })
      expect(detail.skill).toMatch(/^---\nname: /)
      expect(detail.skill).toContain(`toolable call ${detail.row.name}`)
      expect(detail.skill).not.toContain('docs skill')
    }
    expect(await catalogue.tool('mod.echo')).toMatchObject({
      description: 'All of it.',
      examples: [{ description: 'One word', input: { text: 'word' } }],
      errors: [{ code: 'E1001', description: 'It was too loud' }],
      dry_run: false,
      destructive: false,
      notes: [],
    })
    expect(await catalogue.tool('wipe')).toMatchObject({ dry_run: true, destructive: true })
    expect(await failureOf(catalogue.tool('mod.ehco'))).toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('mod.echo'),
    })
  })
})

describe('a preview', () => {
  test('tells each problem with its path, and a command that does the same when it is pasted [10.catalogue-preview]', async () => {
    const project = makeFull()
    const { catalogue } = openDashboard(project.folder)
    expect(await catalogue.preview('mod.echo', { times: 0, deep: { a: 'x' } })).toMatchObject({
      ok: false,
      problems: expect.arrayContaining([
        { path: 'times', message: expect.any(String) },
        { path: 'deep.a', message: expect.any(String) },
        { path: 'text', message: expect.any(String) },
      ]),
    })
    const inputs = [
      ['mod.echo', { text: 'plain', times: 3, loud: true, tags: ['a', 'b c'] }],
      ['mod.echo', { text: 'it\'s "$HOME" `id` \\ \n- two', loud: false, deep: { a: null } }],
      ['mod.echo', { text: '--help' }],
      ['mod.echo', { text: '{"a":1}' }],
      ['mod.echo', { text: '@file.json', tags: ['-x'] }],
      ['mod.wipe', { what: 'a; rm -rf /' }],
    ] as const
    for (const [tool, input] of inputs) {
      writeFileSync(project.path('echoed'), '')
      const { ok, command, json, problems } = await catalogue.preview(tool, input)
      expect([ok, problems, JSON.parse(json)]).toEqual([true, [], { tool, input }])
      expect(paste(command, project)).toBe(0)
      expect(
        project.counted('echoed').map((line) => JSON.parse(line) as unknown),
        command,
      ).toEqual([input])
    }
    const { command } = await catalogue.preview('tools.count', {
      name: "a 'b' $c",
      log: project.path('counted'),
    })
    expect([paste(command, project), project.counted()]).toEqual([0, ["a 'b' $c"]])
    const flow = await catalogue.preview('workflows.flow', { who: 'me' })
    expect([flow.command, paste(flow.command, project)]).toEqual(['toolable run flow --who me', 0])
    expect((await catalogue.preview('wipe', { what: 'x' })).command).toBe(
      'toolable run --yes wipe --what x',
    )
  })
})

describe('the workflows of a project', () => {
  test('are listed with the broken ones, and shown as text, graph and plan, with a grid of their last runs [10.catalogue-workflows]', async () => {
    const project = makeFull()
    const { actions, catalogue } = openDashboard(project.folder)
    const { run_id } = await actions.start({ tool: 'flow', input: { who: 'me' } })
    await untilOver(project, run_id)
    const { workflows } = await catalogue.workflows()
    expect(workflows).toMatchObject([
      {
        id: 'workflows.flow',
        name: 'flow',
        summary: 'Does two things',
        file: project.path('workflows/flow.yaml'),
        steps: 4,
        runs: 1,
        failed: 0,
        latest: { run_id, state: 'completed' },
      },
      { name: 'broken', problem: expect.stringContaining('tol') },
    ])
    const detail = await catalogue.workflow('flow')
    const plan = await project.toolable(['workflow', 'plan', 'flow', '-o', 'text'])
    expect(detail).toMatchObject({
      source: WORKFLOW,
      language: 'yaml',
      plan: plan.stdout,
      input_schema: { required: ['who'] },
    })
    expect(detail.graph.steps.map(({ key, kind, needs }) => [key, kind, needs])).toEqual([
      ['first', 'tool', ['input.who']],
      ['every', 'each', []],
      ['every/*/inner', 'tool', []],
      ['never', 'tool', ['input.who']],
    ])
    expect(detail.grid).toMatchObject({
      steps: ['first', 'every', 'every/*/inner', 'never'],
      runs: [
        {
          row: { run_id },
          states: { first: 'ok', every: 'ok', 'every/*/inner': 'ok', never: 'skipped' },
        },
      ],
    })
    expect(await failureOf(catalogue.workflow('flwo'))).toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining("'flow'"),
    })
    project.write('workflows/flow.yaml', 'name: flow\nsteps: []\n')
    expect(await failureOf(catalogue.workflow('flow'))).toMatchObject({ code: 'CONFIG' })
  })
})

describe('the doctor', () => {
  test('tells findings, the disk of the runs, agents and versions [10.catalogue-doctor]', async () => {
    const project = makeFull()
    const { actions, catalogue } = openDashboard(project.folder)
    const { run_id } = await actions.start({ tool: 'count', input: { name: 'a' } })
    await untilOver(project, run_id)
    project.write('.cursor/mcp.json', '{}')
    await project.toolable(['mcp', 'add', '--agent', 'codex'])
    const [report, same] = await Promise.all([catalogue.doctor(), catalogue.doctor()])
    const spoken = await project.toolable(['doctor'])
    expect(report).toBe(same)
    expect([
      report.level,
      report.enough,
      report.findings.map(({ id, status }) => [id, status]),
    ]).toEqual([
      spoken.json.result.level,
      spoken.json.result.enough,
      spoken.json.result.findings.map(({ id, status }: { id: string; status: string }) => [
        id,
        status,
      ]),
    ])
    expect(report.disk).toMatchObject({
      folder: project.runs,
      runs: 1,
      old: { runs: 0, bytes: 0, days: 7 },
    })
    expect(report.disk.bytes).toBeGreaterThan(4096)
    expect(report.agents.find(({ name }) => name === 'codex')).toEqual({
      name: 'codex',
      found: true,
      installed: true,
    })
    expect(report.agents.find(({ name }) => name === 'cursor')).toEqual({
      name: 'cursor',
      found: true,
      installed: false,
      command: 'toolable mcp add --agent cursor',
    })
    expect([report.version, report.node]).toEqual(['1.2.3', process.versions.node])
    expect(catalogue.about()).toMatchObject({
      name: 'toolable',
      version: '1.2.3',
      project: project.folder,
      runs_folder: project.runs,
      read_only: false,
      epoch: 'e1',
    })
  })
})

/** Runs a command as a shell does; gives its exit status. */
function paste(command: string, { folder }: Project): number | null {
  return spawnSync(
    '/bin/sh',
    ['-c', `toolable() { '${process.execPath}' '${TOOLABLE_PATH}' "$@"; }\n${command}`],
    { cwd: folder, env: cleanEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] },
  ).status
}
