import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { call, planner, planSlice, readStateFile, toolset } from 'toolable'
import { sdk } from '../mcp/clients/drivers.mjs'
import { cleanEnvironment, fixture, makeFolder } from '../support/run-program.ts'
import { folderWith, toolable } from './support.ts'
import '../support/without-coverage.ts'
import { TOOLABLE_PATH } from '../support/toolable-program.ts'

const text = async (cwd: string, ...args: string[]): Promise<string> =>
  (await toolable(['plan', ...args, '-o', 'text'], { cwd })).stdout
const json = (cwd: string, ...args: string[]) => toolable(['plan', ...args], { cwd })

describe('toolable plan', () => {
  test('from nothing to a plan that is completed, for agents and for people [8.plan-command]', async () => {
    const cwd = makeFolder()
    const file = join(cwd, '.toolable', 'session.json')
    const made = await json(cwd, 'setup', ' Ship it ', 'Mend \u001b[31mthe test', 'Publish')
    expect([made.status, made.json.result]).toEqual([
      0,
      {
        file,
        plan: {
          objective: 'Ship it',
          status: 'active',
          steps: [
            { step_id: 1, title: 'Mend \u001b[31mthe test', status: 'pending' },
            { step_id: 2, title: 'Publish', status: 'pending' },
          ],
        },
        done: 0,
        total: 2,
      },
    ])
    expect(readFileSync(join(cwd, '.toolable', '.gitignore'), 'utf8')).toBe('*\n')
    expect(JSON.parse(made.stderr)).toMatchObject({
      type: 'notification',
      kind: 'progress',
      percent: 0,
      plan: { steps: [{}, {}] },
    })
    expect(await text(cwd, 'add', 'Tell people')).toBe(
      'Ship it\n  ○ 1 Mend the test\n  ○ 2 Publish\n  ○ 3 Tell people\n░░░░░░░░░░░░░░░░░░░░ 0 of 3 steps done\n',
    )
    expect((await json(cwd, 'update', '1', 'done')).json.result).toMatchObject({
      done: 1,
      total: 3,
    })
    expect(
      (await json(cwd, 'update', '2', '--status', 'in_progress', '--title', 'Publish it')).status,
    ).toBe(0)
    expect(await text(cwd, 'show')).toBe(
      'Ship it\n  ✔ 1 Mend the test\n  ▸ 2 Publish it\n  ○ 3 Tell people\n██████░░░░░░░░░░░░░░ 1 of 3 steps done\n',
    )
    const streamed = await json(cwd, 'update', '2', 'done', '--stream')
    expect(streamed.lines).toMatchObject([
      {
        type: 'progress',
        message: '2 of 3 steps done: Tell people',
        percent: 67,
        plan: { status: 'active' },
      },
      { type: 'result', ok: true },
    ])
    expect(await text(cwd, 'update', '3', 'done')).toContain('3 of 3 steps done, completed\n')
    const closed = await json(cwd, 'add', 'More')
    expect([closed.status, closed.json.error]).toMatchObject([
      73,
      { code: 'CONFLICT', suggestion: { fix: expect.stringContaining('toolable plan setup') } },
    ])
    expect((await json(cwd, 'clear')).status).toBe(77)
    expect(await text(cwd, 'clear', '--yes')).toBe(`the plan in ${file} is forgotten\n`)
    expect((await json(cwd, 'clear', '--yes')).json.result).toEqual({ file, cleared: false })
  })

  test('the file lies beside the nearest configuration, or where --file or --config says [8.plan-command]', async () => {
    const project = folderWith({ 'toolable.yaml': '', 'deep/er/x.txt': '' })
    const deep = join(project, 'deep/er')
    expect((await json(deep, 'setup', 'One')).json.result.file).toBe(
      join(project, '.toolable/session.json'),
    )
    expect((await json(deep, 'setup', 'Two', '--file', 'two.json')).json.result.file).toBe(
      join(deep, 'two.json'),
    )
    const { json: named } = await toolable(
      ['--config', join(project, 'toolable.yaml'), 'plan', 'show'],
      { cwd: makeFolder() },
    )
    expect(named.result.plan.objective).toBe('One')
  })

  test('what is wrong is said, with a status and a way on, and nothing is left behind [8.plan-command-errors]', async () => {
    const empty = makeFolder()
    const cwd = makeFolder()
    await json(cwd, 'setup', 'o', 'a', 'b')
    writeFileSync(join(cwd, 'broken.json'), '{')
    writeFileSync(join(cwd, 'new.json'), '{"version":2,"id":"x","slices":{}}')
    writeFileSync(
      join(cwd, 'wrong.json'),
      '{"version":1,"id":"x","slices":{"toolable.plan":{"kind":"state","items":[7]}}}',
    )
    const cases: readonly (readonly [
      cwd: string,
      args: string[],
      status: number,
      code: string,
      message: string,
    ])[] = [
      [empty, ['show'], 1, 'PRECONDITION', 'there is no plan yet'],
      [empty, ['update', '1', 'done'], 1, 'PRECONDITION', 'there is no plan yet'],
      [cwd, ['update', '3', 'done'], 66, 'NOT_FOUND', 'there is no step 3; the steps are 1, 2'],
      [cwd, ['update', 'one', 'done'], 2, 'INVALID_INPUT', 'step'],
      [cwd, ['update', '1', 'finished'], 2, 'INVALID_INPUT', 'status'],
      [cwd, ['update', '1'], 2, 'INVALID_INPUT', 'nothing to change in step 1'],
      [
        cwd,
        ['add', 'x'.repeat(501)],
        2,
        'INVALID_INPUT',
        'has 501 characters, and 500 are the most',
      ],
      [cwd, ['add', ' '], 2, 'INVALID_INPUT', 'steps.0: the text is empty'],
      [cwd, ['add'], 2, 'MISSING_PARAM', 'steps'],
      [cwd, ['setup', ''], 2, 'INVALID_INPUT', 'objective'],
      [
        cwd,
        ['show', '--file', 'broken.json'],
        78,
        'CONFIG',
        'broken.json holds no state that can be used: it is not JSON',
      ],
      [cwd, ['add', 'a', '--file', 'new.json'], 78, 'CONFIG', 'version 2'],
      [cwd, ['add', 'a', '--file', 'wrong.json'], 78, 'CONFIG', 'a plan needs an objective'],
    ]
    const ended = await Promise.all(cases.map(([where, args]) => json(where, ...args)))
    expect(
      ended.map(({ status, json: { error } }, index) => [
        status,
        error.code,
        error.message.includes(cases[index]![4]) ? cases[index]![4] : error.message,
        typeof error.suggestion?.fix,
      ]),
    ).toEqual(cases.map(([, , status, code, message]) => [status, code, message, 'string']))
    expect(existsSync(join(empty, '.toolable'))).toBe(false)
    expect(
      (await readStateFile(join(cwd, '.toolable/session.json'))).get(planSlice).latest()?.steps,
    ).toHaveLength(2)
  })

  test('processes at the same time take turns, and no step is lost [8.state-file-turns]', async () => {
    const cwd = makeFolder()
    await json(cwd, 'setup', 'o')
    const ended = await Promise.all(
      Array.from({ length: 6 }, (_, number) => json(cwd, 'add', `step of ${number}`)),
    )
    expect(ended.map(({ status }) => status)).toEqual(Array(6).fill(0))
    const { steps } = (await readStateFile(join(cwd, '.toolable/session.json')))
      .get(planSlice)
      .latest()!
    expect(steps.map(({ step_id }) => step_id)).toEqual([1, 2, 3, 4, 5, 6])
    expect(steps.map(({ title }) => title).sort()).toEqual(
      Array.from({ length: 6 }, (_, number) => `step of ${number}`),
    )
  })
})

describe('over MCP', () => {
  test('a client plans, sees progress, is refused with advice, and people see the same plan [8.plan-mcp]', async () => {
    const cwd = makeFolder()
    const client = await sdk('auto')({
      command: process.execPath,
      args: [TOOLABLE_PATH, 'plan', 'serve', '--file', join(cwd, 'session.json')],
      env: cleanEnvironment(),
    })
    const tools = await client.list()
    expect(
      tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint === true]),
    ).toEqual([
      ['planning_setup_plan', false],
      ['planning_add_step', false],
      ['planning_update_step', false],
      ['planning_read_plan', true],
    ])
    expect(await client.call('planning_read_plan', {})).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('planning_setup_plan') }],
    })
    const made = await client.call('planning_setup_plan', {
      objective: 'Ship it',
      initial_steps: ['a', 'b'],
    })
    expect(made).toMatchObject({
      structuredContent: {
        objective: 'Ship it',
        status: 'active',
        steps: [{ step_id: 1 }, { step_id: 2 }],
      },
      content: [{ text: expect.stringContaining('- [ ] 1. a\n- [ ] 2. b') }, {}],
    })
    const marked = await Promise.all(
      [1, 2].map((step_id) =>
        client.call('planning_update_step', { step_id, status: 'in_progress' }),
      ),
    )
    expect(marked.map(({ isError }) => isError === true)).toEqual([false, false])
    expect(await text(cwd, 'show', '--file', 'session.json')).toContain('  ▸ 1 a\n  ▸ 2 b\n')
    await json(cwd, 'update', '1', 'done', '--file', 'session.json')
    expect((await client.call('planning_read_plan', {})).structuredContent).toMatchObject({
      steps: [{ status: 'done' }, { status: 'in_progress' }],
    })
    expect(await client.call('planning_add_step', { steps: [] })).toMatchObject({ isError: true })
    await client.close()
    // Without the library of the client, which forgets who wants progress when the answer comes in
    // the same piece.
    const asked = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'planning_update_step',
        arguments: { step_id: 2, status: 'done' },
        _meta: { progressToken: 7 },
      },
    }
    const { lines } = await toolable(['plan', 'serve', '--file', 'session.json'], {
      cwd,
      input: `${JSON.stringify(asked)}\n`,
    })
    expect(
      lines.filter(({ method }) => method === 'notifications/progress').map(({ params }) => params),
    ).toMatchObject([{ progressToken: 7, message: expect.stringContaining('2 of 2 steps done') }])
  })

  test('planner({ file }) is for any toolset, and its calls survive the process [8.plan-file]', async () => {
    const cwd = makeFolder()
    const set = toolset({ name: 'work', tools: { planning: planner({ file: 'plan.json' }) } })
    expect(set.entries.map(({ path }) => path.join(' '))).toEqual([
      'planning setup-plan',
      'planning add-step',
      'planning update-step',
      'planning read-plan',
    ])
    expect(await set.call('planning_setup_plan', { objective: 'Ship it' }, { cwd })).toMatchObject({
      ok: true,
    })
    const added = await Promise.all(
      ['a', 'b', 'c'].map((title) => set.call('planning_add_step', { steps: [title] }, { cwd })),
    )
    expect(added.map(({ ok }) => ok)).toEqual([true, true, true])
    const [, , , read] = planner({ file: join(cwd, 'plan.json') })
    expect(await call(read as never, {})).toMatchObject({
      result: { steps: [{ step_id: 1 }, { step_id: 2 }, { step_id: 3 }] },
    })
  })
})

test('a tool that plans shows its plan in a call, and in the record of its run [8.plan-events]', async () => {
  const cwd = folderWith({ 'toolable.yaml': `folders:\n  - ${fixture('plans/tools')}\n` })
  const called = await toolable(['call', 'tidy_up', '--broom', 'wool', '--stream'], { cwd })
  const plans = (lines: readonly any[]) =>
    lines
      .filter(({ type }) => type === 'progress')
      .map(({ plan }) => plan?.steps.map(({ status }: { status: string }) => status).join(' '))
  const expected = ['pending pending', 'done pending', 'done done', undefined]
  expect(plans(called.lines)).toEqual(expected)
  const run = await toolable(['run', 'tidy_up', '--broom', 'wool'], { cwd })
  expect(plans(run.lines)).toEqual(expected)
  const { run_id } = run.lines[0]
  expect(
    plans(
      readFileSync(join(cwd, '.runs', run_id, 'events.jsonl'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ),
  ).toEqual(expected)
  const [summary, words] = await Promise.all([
    toolable(['runs', 'show', 'latest'], { cwd }),
    toolable(['runs', 'show', 'latest', '-o', 'text'], { cwd }),
  ])
  expect(summary.json.result.plan).toMatchObject({ objective: 'Tidy up', status: 'completed' })
  expect(words.stdout).toMatch(/plan +Tidy up\n +✔ 1 Look\n +✔ 2 Sweep with wool\n/)
})
