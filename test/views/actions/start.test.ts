import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { fixture, launch } from '../../support/run-program.ts'
import '../../support/without-coverage.ts'
import { makeProject } from '../../workflow/support.ts'
import { TOOLABLE_PATH } from '../../support/toolable-program.ts'
import { failureOf, openDashboard, untilOver } from './support.ts'

const MODULE = `
import { appendFileSync } from 'node:fs'
import { tool } from '${fixture('../../dist/index.js')}'
export const wipe = tool({
  name: 'wipe', summary: 'Wipes something', dryRun: true, annotations: { destructive: true },
  input: { type: 'object', properties: { what: { type: 'string' }, times: { type: 'integer', minimum: 1 } }, required: ['what'] },
  run(input, ctx) {
    ctx.plan('wipe', input.what)
    if (!ctx.dryRun) appendFileSync('wiped', input.what + '\\n')
    return { wiped: input.what }
  },
})
`

const WORKFLOW = `name: twice
input: {type: object, properties: {who: {type: string}}, required: [who], additionalProperties: false}
steps:
  - {name: first, type: tool, tool: count, input: {name: "\${{ input.who }}", log: FOLDER/counted}}
  - {name: second, type: tool, tool: count, input: {name: again, log: FOLDER/counted}}
`

function makeFull() {
  const project = makeProject()
  project.write('mod.mjs', MODULE)
  project.write('workflows/twice.yaml', WORKFLOW.replaceAll('FOLDER', project.folder))
  project.write(
    'toolable.yaml',
    `folders: [tools]\nmodules: [mod.mjs]\nworkflows: [workflows]\nmcpServers:\n  plain: {command: ${process.execPath}, args: [${fixture('servers/answers-plainly.mjs')}]}\n`,
  )
  return project
}

describe('a dashboard', () => {
  test('starts programs, tools of modules and of MCP servers, and workflows alike, each on record as its own [10.actions-start]', async () => {
    const project = makeFull()
    const { actions } = openDashboard(project.folder)
    const started = await Promise.all([
      actions.start({ tool: 'count', input: { name: 'a b', log: project.path('counted') } }),
      actions.start({ tool: 'mod.wipe', input: { what: 'all' }, confirm: true }),
      actions.start({ tool: 'workflows.twice', input: { who: 'me' } }),
      actions.start({ tool: 'plain.echo', input: { text: 'hello' } }),
    ])
    const ends = await Promise.all(started.map(({ run_id }) => untilOver(project, run_id)))
    expect(ends.map(({ type, state }) => [type, state])).toEqual(
      Array.from({ length: 4 }, () => ['runner_end', 'completed']),
    )
    expect(started.map(({ run_id }) => project.request(run_id).caller)).toEqual([
      'dashboard',
      'dashboard',
      'dashboard',
      'dashboard',
    ])
    expect(started.map(({ run_id }) => project.request(run_id).tool)).toEqual([
      'tools.count',
      'mod.wipe',
      'workflow.twice',
      'plain.echo',
    ])
    expect(project.request(started[0].run_id)).toMatchObject({
      args: ['--name', 'a b', '--log', project.path('counted')],
      input: { name: 'a b' },
      cwd: project.folder,
    })
    expect(project.counted().sort()).toEqual(['a b', 'again', 'me'])
    expect(readFileSync(project.path('wiped'), 'utf8')).toBe('all\n')
    // Those of the steps say who asked for them too.
    expect(
      project
        .ids()
        .map((id) => project.request(id))
        .filter(({ parent }) => parent)
        .map(({ caller }) => caller),
    ).toEqual(['workflow', 'workflow'])
  })

  test('starts runs that go on when its own process is killed [10.actions-outlive]', async () => {
    const project = makeProject()
    const gate = project.path('gate')
    const script = project.write(
      'dash.mjs',
      `
      const { openActions } = await import('${fixture('../../src/commands/ui/actions.ts')}')
      const { openProjectTools } = await import('${fixture('../../src/commands/ui/project.ts')}')
      const { openProject } = await import('${fixture('../../src/commands/ui/serve-ui.ts')}')
      const project = openProject({ cwd: ${JSON.stringify(project.folder)}, env: process.env, now: Date.now, surroundings: {}, started: { execPath: process.execPath, execArgv: [], script: ${JSON.stringify(TOOLABLE_PATH)} } })
      const { run_id } = await openActions(project, openProjectTools(project)).start({ tool: 'count', input: { name: 'late', gate: ${JSON.stringify(gate)} } })
      console.log(run_id)
      setInterval(() => {}, 1000)
    `,
    )
    const dashboard = launch(
      process.execPath,
      ['--import', fixture('../setup/typescript-hook.mjs'), script],
      { cwd: project.folder },
    )
    await dashboard.said('\n')
    process.kill(-dashboard.pid, 'SIGKILL')
    const { stdout } = await dashboard.ended
    writeFileSync(gate, '')
    expect(await untilOver(project, stdout.trim())).toMatchObject({ state: 'completed' })
  })

  test('refuses what is wrong before anything is on record, in the words of every other surface [10.actions-refused]', async () => {
    const project = makeFull()
    const { actions } = openDashboard(project.folder)
    const wrong = [
      ['mod.wipe', { what: 5 }],
      ['mod.wipe', {}],
      ['mod.wipe', { what: 'x', tims: 2 }],
      ['tools.count', {}],
      ['workflows.twice', { whom: 'me' }],
      ['wip', {}],
    ] as const
    for (const [tool, input] of wrong) {
      const error = await failureOf(actions.start({ tool, input, confirm: true }))
      const called = await project.toolable(['call', tool, JSON.stringify(input), '--yes'])
      expect([error.code, error.message]).toEqual([
        called.json.error.code,
        called.json.error.message,
      ])
    }
    expect(
      await failureOf(actions.start({ tool: 'mod.wipe', input: { what: 'x' } })),
    ).toMatchObject({ code: 'CONFIRMATION_REQUIRED' })
    expect(
      await failureOf(actions.start({ tool: 'count', input: { name: 'x' }, dry_run: true })),
    ).toMatchObject({ code: 'PRECONDITION', message: expect.stringContaining('no dry run') })
    expect(
      await failureOf(actions.start({ tool: 'twice', input: { who: 'x' }, dry_run: true })),
    ).toMatchObject({ code: 'PRECONDITION', suggestion: { fix: 'toolable workflow plan twice' } })
    project.write(
      'workflows/twice.yaml',
      'name: twice\nsteps:\n  - {name: first, type: tool, tool: cuont}\n',
    )
    expect(await failureOf(actions.start({ tool: 'twice', input: {} }))).toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining('cuont'),
    })
    expect([project.ids(), existsSync(project.path('wiped'))]).toEqual([[], false])
  })

  test('leaves nothing of a run that no process could be started for, and one that was to be resumed as it was [10.actions-refused]', async () => {
    const project = makeProject()
    project.write('fail', 'E_INVALID_INPUT')
    const { actions } = openDashboard(project.folder)
    const { run_id } = await actions.start({
      tool: 'count',
      input: { name: 'a', fail: project.path('fail') },
    })
    await untilOver(project, run_id)
    const broken = openDashboard(project.folder, {
      execPath: project.path('no-such-program'),
    }).actions
    expect(await failureOf(broken.start({ tool: 'count', input: { name: 'b' } }))).toMatchObject({
      code: 'INTERNAL',
      message: expect.stringContaining('supervisor'),
    })
    expect(await failureOf(broken.resume(run_id))).toMatchObject({ code: 'INTERNAL' })
    expect([project.ids(), existsSync(project.path(`.runs/${run_id}/lock`))]).toEqual([
      [run_id],
      false,
    ])
    rmSync(project.path('fail'))
    await actions.resume(run_id)
    expect(await untilOver(project, run_id)).toMatchObject({ state: 'completed', attempt: 2 })
  })

  test('finds a tool that came, and one that changed, after it was opened [10.actions-fresh]', async () => {
    const project = makeProject()
    const { actions, catalogue } = openDashboard(project.folder)
    expect((await catalogue.tools()).tools.map(({ id }) => id)).toEqual(['tools.count'])
    project.write('mod.mjs', MODULE)
    project.write('toolable.yaml', 'folders: [tools]\nmodules: [mod.mjs]\n')
    const { run_id } = await actions.start({ tool: 'wipe', input: { what: 'new' }, confirm: true })
    expect(await untilOver(project, run_id)).toMatchObject({ state: 'completed' })
    writeFileSync(
      project.path('tools/count/cli.sh'),
      `${readFileSync(project.path('tools/count/cli.sh'), 'utf8')}\n# changed\n`,
    )
    const changed = await actions.start({ tool: 'count', input: { name: 'n' } })
    expect(await untilOver(project, changed.run_id)).toMatchObject({ state: 'completed' })
  })
})

describe('a dry run', () => {
  test('plans and does not act, from a dashboard and from the command line [10.actions-dry-run] [7.run-dry]', async () => {
    const project = makeFull()
    const { actions } = openDashboard(project.folder)
    const { run_id } = await actions.start({ tool: 'wipe', input: { what: 'x' }, dry_run: true })
    await untilOver(project, run_id)
    const [behind, before, program, flow] = await Promise.all([
      project.toolable(['run', 'wipe', '--what', 'x', '--dry-run']),
      project.toolable(['run', '--dry-run', 'wipe', '--what', 'x']),
      project.toolable([
        'run',
        '--dry-run',
        'count',
        '--name',
        'x',
        '--log',
        project.path('counted'),
      ]),
      project.toolable(['run', '--dry-run', 'twice', '--who', 'x']),
    ])
    const plan = [{ action: 'wipe', target: 'x' }]
    expect(project.log(run_id).find(({ type }) => type === 'result')).toMatchObject({
      result: { plan },
    })
    for (const { status, lines } of [behind, before])
      expect([status, lines.find(({ type }: { type: string }) => type === 'result')]).toMatchObject(
        [0, { result: { plan } }],
      )
    expect([program, flow].map(({ json }) => json.error.code)).toEqual([
      'PRECONDITION',
      'PRECONDITION',
    ])
    expect([existsSync(project.path('wiped')), project.counted()]).toEqual([false, []])
  })
})
