import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { BuiltWorkflow } from 'toolable'
import { loadWorkflow } from '../../src/workflow/definition/load.ts'
import { fixture, launch, makeFolder } from '../support/run-program.ts'
import type { Ended, RunOptions } from '../support/run-program.ts'
import '../support/without-coverage.ts'
import { TOOLABLE_PATH } from '../support/toolable-program.ts'

const EXAMPLES = fixture('../../examples')
const PACKAGE = fixture('../..')

// A copy, with the package where npm puts it.
function makeProject(example?: string): {
  readonly folder: string
  run(command: readonly string[], options?: RunOptions): Promise<Ended>
} {
  const folder = join(makeFolder(), 'project')
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true })
  if (example !== undefined)
    cpSync(join(EXAMPLES, example), folder, {
      recursive: true,
      filter: (source) => !/\/(\.runs|site|result\.json|out[^/]*)$/.test(source),
    })
  symlinkSync(TOOLABLE_PATH, join(folder, 'node_modules/.bin/toolable'))
  symlinkSync(PACKAGE, join(folder, 'node_modules/toolable'))
  return {
    folder,
    run: ([program = '', ...args], options = {}) =>
      launch(program === 'toolable' ? './node_modules/.bin/toolable' : program, args, {
        cwd: folder,
        ...options,
      }).ended,
  }
}

const resultOf = ({ lines }: Ended): any => lines.findLast(({ type }) => type === 'result')?.result

describe('the workflow of the orchestration specification', () => {
  test('runs as written in a project that toolable init made: a tool, a decision, tools side by side, with ./tool in front [9.workflow-seed]', async () => {
    const { folder, run } = makeProject()
    expect((await run(['toolable', 'init', '--language', 'python'])).status).toBe(0)
    expect(existsSync(join(folder, 'tool'))).toBe(true)
    for (const name of ['example_processor', 'data_migrator']) {
      cpSync(join(EXAMPLES, 'orchestration/tools', name), join(folder, 'tools', name), {
        recursive: true,
      })
      cpSync(
        join(EXAMPLES, 'orchestration/tools/registry', name),
        join(folder, 'tools/registry', name),
        { recursive: true },
      )
    }
    cpSync(join(EXAMPLES, 'orchestration/tools/_lib'), join(folder, 'tools/_lib'), {
      recursive: true,
    })
    for (const name of ['in', 'data.json'])
      cpSync(join(EXAMPLES, 'orchestration', name), join(folder, name), { recursive: true })
    const steps = [
      {
        type: 'tool',
        name: 'process',
        command: './tool example_processor --input ./data.json --output ./result.json',
      },
      {
        type: 'ai_decision',
        name: 'go on',
        decision_type: 'approve_migration',
        instruction: 'Migrate the records?',
      },
      {
        type: 'parallel',
        name: 'migrate',
        tasks: [
          './tool data_migrator --source ./in --target ./out-a --batch-size 2',
          'data_migrator --source ./in --target ./out-b --batch-size 3',
        ],
        max_concurrency: 2,
      },
    ]
    writeFileSync(
      join(folder, 'workflow.json'),
      JSON.stringify({
        steps: steps.map((step) => ({ ...step, name: step.name.replace(' ', '_') })),
      }),
    )
    const end = await run([
      'toolable',
      'workflow',
      'run',
      'workflow.json',
      '--answer',
      'approve_migration=go',
    ])
    expect([end.status, resultOf(end)]).toEqual([
      0,
      [
        { files: 6, skipped: [] },
        { files: 6, skipped: [] },
      ],
    ])
    expect(
      end.lines
        .filter(({ type }) => type === 'task_done')
        .map(({ task_id, status, child_rc }) => [task_id, status, child_rc])
        .sort(),
    ).toEqual([
      ['migrate/0', 'ok', 0],
      ['migrate/1', 'ok', 0],
      ['process', 'ok', 0],
    ])
    expect(end.lines.find(({ type }) => type === 'task_submitted')).toMatchObject({
      payload: { command: './tool example_processor --input ./data.json --output ./result.json' },
    })
    expect(
      end.lines
        .filter(({ type, level }) => type === 'progress' && level === undefined)
        .map(({ pct }) => pct),
    ).toEqual([0, 33.3, 66.7])
    expect(JSON.parse(readFileSync(join(folder, 'result.json'), 'utf8'))).toMatchObject({
      item_count: 3,
    })
    expect(readdirSync(join(folder, 'out-a'))).toEqual(readdirSync(join(folder, 'out-b')))
    const { json } = await run(['toolable', 'runs', 'show', 'latest'])
    expect(json.result.steps.map(({ step, state }: any) => `${step} ${state}`)).toEqual([
      'process ok',
      'go_on ok',
      'migrate ok',
      'migrate/0 ok',
      'migrate/1 ok',
    ])
  })
})

describe('the example of workflows', () => {
  test('does what its page says: stops at the question, is answered while nothing runs, goes on, and takes back what fails [9.workflow-answer-left]', async () => {
    const { folder, run } = makeProject('workflows')
    const stopped = await run(['toolable', 'workflow', 'run', 'publish', 'from=pages', '--yes'])
    expect([stopped.status, stopped.lines.at(-1)]).toMatchObject([
      77,
      { code: 'E_ANSWER_REQUIRED' },
    ])
    expect((await run(['toolable', 'answer', 'latest', 'publish'])).status).toBe(0)
    const resumed = await run(['toolable', 'workflow', 'resume', 'latest'])
    expect([resumed.status, resultOf(resumed)]).toEqual([
      0,
      {
        approved: 'publish',
        pages: [
          { path: 'pages/faq.txt', words: 4 },
          { path: 'pages/guide.txt', words: 8 },
        ],
        index: { pages: 2, words: 12 },
      },
    ])
    expect(readdirSync(join(folder, 'site')).sort()).toEqual(['faq.txt', 'guide.txt', 'index'])

    writeFileSync(join(folder, 'pages/empty.txt'), '')
    const refused = await run([
      'toolable',
      'workflow',
      'run',
      'publish',
      'from=pages',
      'to=other',
      '--yes',
    ])
    expect([refused.status, refused.lines.at(-2)]).toMatchObject([
      1,
      { type: 'error', msg: 'pages/empty.txt is empty', context: { step: 'check/0/words' } },
    ])
    mkdirSync(join(folder, 'none'))
    const failed = await run([
      'toolable',
      'workflow',
      'run',
      'publish',
      'from=none',
      'to=other',
      '--yes',
      '--answer',
      'approve_pages=publish',
    ])
    expect([failed.status, failed.lines.at(-2)]).toMatchObject([
      1,
      { type: 'error', msg: 'there are no pages to list' },
    ])
    expect(existsSync(join(folder, 'other'))).toBe(false)
  })

  test('is the same data in code, and a program calls it like any other tool [9.builder-data] [9.workflow-tools]', async () => {
    const { folder, run } = makeProject('workflows')
    const { publish } = (await import(pathToFileURL(join(folder, 'publish.mjs')).href)) as {
      publish: BuiltWorkflow
    }
    expect(await publish.definition()).toEqual(
      await loadWorkflow('workflows/publish.yaml', { cwd: folder }),
    )
    const { status, stdout, stderr } = await run([process.execPath, 'host.mjs'])
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toContain('step 3/5: approve\nPublish the pages of pages?\nstep 4/5: copy\n')
    expect(stdout).toMatch(/\{ pages: 2, words: 12 \} r-[0-9a-f]{10}\n$/)
    expect(readdirSync(join(folder, 'site')).sort()).toEqual(['faq.txt', 'guide.txt', 'index'])
  })

  test('is a tool of its project', async () => {
    const { run } = makeProject('workflows')
    expect(
      (await run(['toolable', 'call', 'publish', '--from', 'pages'])).json.error,
    ).toMatchObject({ code: 'CONFIRMATION_REQUIRED' })
    const called = await run(
      ['toolable', 'call', 'publish', '--from', 'pages', '--yes', '--session'],
      { input: '{"value":"publish"}\n' },
    )
    expect([called.status, called.lines.at(-1)]).toMatchObject([
      0,
      { ok: true, result: { index: { pages: 2, words: 12 } }, meta: { tool: 'workflows.publish' } },
    ])
  })
})
