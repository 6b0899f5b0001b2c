import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fixture, startProgram } from '../../support/run-program.ts'
import type { Running } from '../../support/run-program.ts'
import { makeProject } from '../support.ts'
import type { Project } from '../support.ts'
import '../../support/without-coverage.ts'

/**
 * Tools that note that they were called; `slow` takes until there is a file `gate`, or its end is
 * asked for.
 */
const TOOLS = `import { tool } from '${fixture('../../dist/index.js')}'
import { appendFileSync, existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
const note = (name) => appendFileSync('FOLDER/counted', name + '\\n')
const make = (name, work) => tool({ name, summary: name, input: { type: 'object', additionalProperties: true }, run: async (input, ctx) => { note(name); return work ? work(input, ctx) : name } })
export const quick = make('quick')
export const undo = make('undo')
export const slow = make('slow', async ({ fail }, { signal }) => {
  while (!existsSync('FOLDER/gate')) await sleep(20, undefined, { signal })
  if (fail) throw new Error('as wanted')
  return 'slow'
})
`

type Hosted = { readonly project: Project; readonly program: Running; readonly id: string }

function start(project: Project, ...input: readonly string[]): Running {
  return startProgram('workflow/hosts.mjs', [project.runs, project.path('tools.mjs'), ...input])
}

/** A program in whose hands an execution is at its slow step. */
async function host(input: object = {}): Promise<Hosted> {
  const project = makeProject({})
  project.write('tools.mjs', TOOLS.replaceAll('FOLDER', project.folder))
  project.write('toolable.yaml', 'modules: [./tools.mjs]\n')
  const program = start(project, JSON.stringify(input))
  await program.said('started')
  await expect.poll(() => project.counted()).toEqual(['quick', 'slow'])
  const { json } = await project.toolable(['workflow', 'list'])
  expect(json.result.executions).toMatchObject([{ state: 'running' }])
  const id = json.result.executions[0].run_id as string
  expect(existsSync(join(project.runs, id))).toBe(false)
  return { project, program, id }
}

async function kill(program: Running): Promise<void> {
  program.kill('SIGKILL')
  await program.ended
}

const requests = ({ runs }: Project): readonly string[] =>
  existsSync(join(runs, 'workflows/cancel')) ? readdirSync(join(runs, 'workflows/cancel')) : []

describe('an execution inside a program that lives', () => {
  test('[9.light-cancel-outside] is cancelled from outside, takes back what it did, and is over then', async () => {
    const { project, program, id } = await host()
    const watching = project.start(['watch', id])
    await watching.said('task_done')
    const cancelled = await project.toolable(['cancel', id])
    expect([cancelled.status, cancelled.json.result]).toEqual([
      0,
      { run_id: id, state: 'cancelled' },
    ])
    await program.said(JSON.stringify({ ended: id, state: 'cancelled' }))
    expect(project.counted()).toEqual(['quick', 'slow', 'undo'])
    expect(requests(project)).toEqual([])
    expect((statSync(join(project.runs, 'workflows/cancel')).mode & 0o777).toString(8)).toBe('700')

    const watched = await watching.ended
    expect([watched.status, watched.lines.map(({ type }) => type)]).toEqual([
      130,
      expect.arrayContaining([
        'runner_start',
        'task_done',
        'runner_log',
        'cancelled',
        'runner_end',
      ]),
    ])
    const logs = await project.toolable(['runs', 'logs', id])
    expect([logs.status, logs.lines]).toEqual([0, watched.lines])
    expect(watched.lines.at(-1)).toMatchObject({
      type: 'runner_end',
      state: 'cancelled',
      rc: 130,
      seq: watched.lines.length,
    })

    for (const words of [
      ['cancel', id],
      ['workflow', 'cancel', id],
      ['answer', id, 'yes'],
    ]) {
      const refused = await project.toolable(words)
      expect(refused.json.error).toMatchObject({
        code: 'PRECONDITION',
        message: expect.stringContaining('it is cancelled'),
      })
    }
    await kill(program)
  })

  test('[9.light-cancel-outside] is asked without waiting by --no-wait, and its program hears of it', async () => {
    const { project, program, id } = await host()
    expect((await project.toolable(['workflow', 'cancel', id, '--no-wait'])).json.result).toEqual({
      run_id: id,
      state: 'running',
    })
    await program.said(JSON.stringify({ ended: id, state: 'cancelled' }))
    await expect.poll(() => requests(project)).toEqual([])
    await kill(program)
  })

  test('[9.light-watched] is followed to its end, and takes no answers', async () => {
    const { project, program, id } = await host()
    expect((await project.toolable(['answer', id, 'yes'])).json.error).toMatchObject({
      code: 'PRECONDITION',
      message: expect.stringContaining('inside a program'),
    })
    const before = await project.toolable(['runs', 'logs', id])
    expect(before.lines.map(({ type, task_id }) => [type, task_id])).toEqual([
      ['runner_start', undefined],
      ['task_submitted', 'quick'],
      ['task_done', 'quick'],
    ])
    const watching = [
      project.start(['workflow', 'watch', id]),
      project.start(['runs', 'logs', id, '--follow', '--type', 'result', '--output', 'text']),
    ]
    await watching[0]!.said('task_done')
    project.write('gate', '')
    const [watched, followed] = await Promise.all(watching.map(({ ended }) => ended))
    expect(watched!.status).toBe(0)
    expect(watched!.lines.slice(3)).toMatchObject([
      { type: 'task_submitted', task_id: 'slow' },
      { type: 'task_done', task_id: 'slow', status: 'ok', child_result: 'slow' },
      { type: 'result', result: 'slow' },
      { type: 'runner_end', state: 'completed', rc: 0, run_id: id, seq: 7 },
    ])
    expect([followed!.status, followed!.stdout]).toEqual([
      0,
      expect.stringMatching(/result +slow\n$/),
    ])
    await kill(program)
  })

  test('[9.light-watched] gives the status of its failure to whoever watches', async () => {
    const { project, program, id } = await host({ fail: true })
    project.write('gate', '')
    const watched = await project.toolable(['watch', id])
    expect(watched.lines.slice(-2)).toMatchObject([
      { type: 'error', msg: expect.stringContaining('as wanted') },
      { type: 'runner_end', state: 'failed', rc: watched.status },
    ])
    expect(watched.status).toBeGreaterThan(0)
    await kill(program)
  })
})

describe('an execution whose program died', () => {
  test('[9.light-cancel-outside] [9.light-watched] is told as interrupted, and cancelled here', async () => {
    const { project, program, id } = await host()
    const watching = project.start(['watch', id])
    await watching.said('task_done')
    await kill(program)
    const watched = await watching.ended
    expect([watched.status, watched.lines.at(-1)]).toMatchObject([
      1,
      { type: 'runner_end', state: 'failed', code: 'E_INTERRUPTED' },
    ])
    expect((await project.toolable(['cancel', id])).json.result).toEqual({
      run_id: id,
      state: 'cancelled',
    })
    expect(project.counted()).toEqual(['quick', 'slow', 'undo'])
    expect((await project.toolable(['runs', 'show', id])).json.result).toMatchObject({
      state: 'cancelled',
      folder: join(project.runs, id),
    })
  })

  test('[9.light-cancel-left] goes on in the next program, whatever was asked of the one before', async () => {
    const { project, program, id } = await host()
    await kill(program)
    mkdirSync(join(project.runs, 'workflows/cancel'), { recursive: true })
    for (const one of [id, 'r-0123456789'])
      writeFileSync(join(project.runs, 'workflows/cancel', one), 'late')
    const next = start(project)
    await next.said('opened')
    expect(requests(project)).toEqual([])
    project.write('gate', '')
    expect((await project.toolable(['watch', id])).status).toBe(0)
    await kill(next)
  })
})
