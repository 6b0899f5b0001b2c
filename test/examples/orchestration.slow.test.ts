import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fixture, launch, makeFolder } from '../support/run-program.ts'
import type { Ended, RunOptions, Running } from '../support/run-program.ts'
import '../support/without-coverage.ts'
import { TOOLABLE_PATH } from '../support/toolable-program.ts'

const EXAMPLE = fixture('../../examples/orchestration')

type Project = {
  readonly folder: string
  start(command: readonly string[], options?: RunOptions): Running
  run(command: readonly string[], options?: RunOptions): Promise<Ended>
  file(path: string): string
}

// A copy, as whoever follows the specification would have it, with the package where npm puts it.
function makeProject(): Project {
  const folder = join(makeFolder(), 'project')
  cpSync(EXAMPLE, folder, {
    recursive: true,
    filter: (source) => !/\/(\.runs|result\.json|out[^/]*)$/.test(source),
  })
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true })
  symlinkSync(TOOLABLE_PATH, join(folder, 'node_modules/.bin/toolable'))
  const start = (command: readonly string[], options: RunOptions = {}): Running => {
    const [program = '', ...args] = command
    return launch(program === 'toolable' ? './node_modules/.bin/toolable' : program, args, {
      cwd: folder,
      ...options,
    })
  }
  return {
    folder,
    start,
    run: (command, options) => start(command, options).ended,
    file: (path) => readFileSync(join(folder, path), 'utf8'),
  }
}

const ofType = (end: Ended, type: string): any[] => end.lines.filter((line) => line.type === type)

describe('the tools of the orchestration specification', () => {
  test('[7.seed-commands] [7.list-and-describe] ./tool --list and ./tool --describe', async () => {
    const { run } = makeProject()
    expect(await run(['./tool', '--list'])).toMatchObject({
      status: 0,
      stdout: 'data_migrator\nexample_processor\nworkflow_orchestrator\n',
      stderr: '',
    })
    const described = await run(['./tool', '--describe', 'data_migrator'])
    expect(described).toMatchObject({
      status: 0,
      json: {
        name: 'data_migrator',
        version: '1.2.0',
        entry: 'cli.py',
        protocol_version: 1,
        resources: { cpu_seconds: 600 },
        exit_codes: { retryable_error: 20 },
      },
    })
    const unknown = await run(['./tool', '--describe', 'data_migrater'])
    expect(unknown).toMatchObject({
      status: 66,
      json: {
        ok: false,
        error: { code: 'NOT_FOUND', message: expect.stringContaining('data_migrater') },
      },
    })
  })

  test('[7.seed-commands] example_processor reads ./data.json and writes ./result.json', async () => {
    const { run, file, folder } = makeProject()
    const end = await run(
      ['./tool', 'example_processor', '--input', './data.json', '--output', './result.json'],
      { env: { TOOL_DEBUG: 'true' } },
    )
    expect(end).toMatchObject({ status: 0, stderr: '' })
    expect(JSON.parse(file('result.json'))).toEqual({
      original_keys: ['items'],
      item_count: 3,
      processed: true,
    })
    expect(end.lines[0]).toMatchObject({ type: 'runner_start', level: 'L3', timeout_s: 1800 })
    expect(ofType(end, 'log').map(({ msg }) => msg)).toContain('item 1 has the keys id, name')
    expect(ofType(end, 'result')).toMatchObject([
      {
        status: 'ok',
        result: { item_count: 3 },
        metrics: { items: 3 },
        artifacts: [{ sha256: createHash('sha256').update(file('result.json')).digest('hex') }],
      },
    ])
    expect(end.lines.at(-1)).toMatchObject({ type: 'runner_end', state: 'completed', rc: 0 })

    writeFileSync(join(folder, 'bad.json'), '{"items": [1]}')
    const bad = await run([
      './tool',
      'example_processor',
      '--input',
      'bad.json',
      '--output',
      'never.json',
    ])
    expect(bad.status).toBe(30)
    expect(ofType(bad, 'error')).toMatchObject([
      { code: 'E_SCHEMA_MISMATCH', retryable: false, hint: expect.stringContaining('items') },
    ])
    expect(readdirSync(folder)).not.toContain('never.json')
    const missing = await run([
      './tool',
      'example_processor',
      '--input',
      './nowhere.json',
      '--output',
      './never.json',
    ])
    expect(missing.status).toBe(66)
    expect(missing.stdout).toContain('nowhere.json')
  })

  test('[7.seed-resume] [12.resume-resumes] data_migrator waits for its strategy, fails in the middle, and goes on where it was', async () => {
    const { run, start, file, folder } = makeProject()
    const command = (target: string): string[] => [
      './tool',
      'data_migrator',
      '--source',
      './in',
      '--target',
      target,
      '--batch-size',
      '2',
      '--migrated-at',
      '2026-01-01T00:00:00Z',
    ]
    const whole = await run(command('./out'), { env: { TOOL_TIMEOUT_S: '3600' } })
    expect(whole.status).toBe(0)
    expect(whole.lines[0]).toMatchObject({ timeout_s: 3600 })
    expect(ofType(whole, 'runner_log')).toMatchObject([
      { answer: { by: 'default', value: 'stop_on_error' } },
    ])

    const good = file('in/record-4.json')
    writeFileSync(join(folder, 'in/record-4.json'), '{broken')
    const running = start(command('./again'), { input: 'open' })
    await running.said('choose_migration_strategy')
    running.write('{"value":"stop_on_error"}\n')
    const failed = await running.ended
    expect(failed.status).toBe(30)
    expect(ofType(failed, 'error')).toMatchObject([
      { code: 'E_SCHEMA_MISMATCH', msg: expect.stringContaining('record-4.json') },
    ])
    expect(readdirSync(folder)).not.toContain('again')

    writeFileSync(join(folder, 'in/record-4.json'), good)
    const resumed = await run(['toolable', 'resume', failed.lines[0].run_id])
    expect(resumed.status).toBe(0)
    expect(resumed.lines[0]).toMatchObject({
      type: 'runner_start',
      run_id: failed.lines[0].run_id,
      attempt: 2,
    })
    expect(ofType(resumed, 'action_required')).toEqual([])
    expect(ofType(resumed, 'progress').map(({ msg }) => msg)).toEqual([
      'Migrated 4 of 6',
      'Migrated 6 of 6',
    ])
    expect(readdirSync(join(folder, 'again')).sort()).toEqual(
      readdirSync(join(folder, 'out')).sort(),
    )
    for (const name of readdirSync(join(folder, 'out')))
      expect(file(`again/${name}`)).toBe(file(`out/${name}`))
  })

  test('[7.seed-orchestrator] [7.orchestrators-only] workflow_orchestrator runs tools as runs of their own, and asks', async () => {
    const { start, run, folder, file } = makeProject()
    const workflow = JSON.parse(file('workflow.json'))
    workflow.steps[2].max_concurrency = 1
    writeFileSync(join(folder, 'workflow.json'), JSON.stringify(workflow))
    const running = start(['./tool', 'workflow_orchestrator', '--workflow', './workflow.json'], {
      input: 'open',
    })
    await running.said('"approve_migration"')
    running.write('{"value":"migrate"}\n')
    await running.said('"task_id":"t-3-p0","child_run_id":"r-', 'stdout')
    running.closeStdin()
    const end = await running.ended
    expect(end.status).toBe(0)
    expect(end.lines[0]).toMatchObject({
      level: 'L1',
      rights: expect.stringContaining("caller's rights"),
    })
    const tasks = end.lines
      .filter(({ type }) => /^task_(submitted|started|done)$/.test(type))
      .map(({ type, task_id }) => `${type} ${task_id}`)
    expect(tasks).toEqual(
      ['t-1-count', 't-3-p0', 't-3-p1'].flatMap((id) => [
        `task_submitted ${id}`,
        `task_started ${id}`,
        `task_done ${id}`,
      ]),
    )
    expect(ofType(end, 'task_action_required').length).toBeGreaterThan(0)
    expect(ofType(end, 'task_done')).toMatchObject(
      ['t-1-count', 't-3-p0', 't-3-p1'].map((task_id) => ({
        task_id,
        status: 'ok',
        child_rc: 0,
        child_run_id: expect.stringMatching(/^r-/),
        child_result: { type: 'result' },
        events_count: expect.any(Number),
      })),
    )
    expect(file('out-a/record-1.json')).toContain('"version": "2.0"')
    const children = ofType(end, 'task_done').map(({ child_run_id }) => child_run_id)
    const listed = (await run(['toolable', 'runs', 'list'])).json.result.runs
    expect(
      listed.filter(({ run_id }: any) => children.includes(run_id)).map(({ state }: any) => state),
    ).toEqual(['completed', 'completed', 'completed'])
  })

  test.each([
    [
      'one task',
      { name: 'move', type: 'tool', command: 'data_migrator --source ./in --target ./a' },
      ['t-1-move'],
    ],
    [
      'several tasks',
      {
        name: 'move',
        type: 'parallel',
        tasks: [
          'data_migrator --source ./in --target ./a',
          'data_migrator --source ./in --target ./b',
        ],
      },
      ['t-1-p0', 't-1-p1'],
    ],
  ])('[7.seed-orchestrator] a cancelled orchestrator takes %s along', async (_words, step, ids) => {
    const { start, run, folder } = makeProject()
    writeFileSync(join(folder, 'long.json'), JSON.stringify({ steps: [step] }))
    const running = start(['./tool', 'workflow_orchestrator', '--workflow', './long.json'], {
      input: 'open',
    })
    for (const id of ids)
      await running
        .said(`"task_action_required","ts":`)
        .then(() => running.said(`"task_id":"${id}","child_run_id":"r-`))
    running.kill('SIGTERM')
    const end = await running.ended
    expect(end.status).toBe(130)
    expect(end.lines.at(-1)).toMatchObject({ type: 'runner_end', state: 'cancelled' })
    const { runs } = (await run(['toolable', 'runs', 'list'])).json.result
    expect(runs.map(({ state }: any) => state)).toEqual([...ids, 'parent'].map(() => 'cancelled'))
  })
})

test('the helper of the example is the one of the package', () => {
  expect(readFileSync(join(EXAMPLE, 'tools/_lib/toolable.py'), 'utf8')).toBe(
    readFileSync(fixture('../../emitters/python/toolable.py'), 'utf8'),
  )
})
