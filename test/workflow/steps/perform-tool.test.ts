import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { registry, tool } from 'toolable'
import type { Registry } from 'toolable'
import { createPerformTool } from '../../../src/workflow/perform-tool.ts'
import type { StepCall, StepHost } from '../../../src/workflow/step-host.ts'
import { getChildRunId } from '../../../src/workflow/step-host.ts'
import { cleanEnvironment } from '../../support/run-program.ts'
import { isAlive } from '../../support/processes.ts'
import { COUNT, makeProject } from '../support.ts'
import type { Project } from '../support.ts'

const WORKFLOW = 'r-0123456789'
const opened: Registry[] = []
afterAll(async () => {
  for (const one of opened) await one.close()
})

const add = tool({
  name: 'add',
  summary: 'Add',
  input: {
    type: 'object',
    properties: { left: { type: 'integer' }, right: { type: 'integer' } },
    required: ['left', 'right'],
    additionalProperties: false,
  } as const,
  positional: ['left'],
  run: (input) => (input as { left: number }).left + (input as { right: number }).right,
})
const way = tool({
  name: 'way',
  summary: 'Ask',
  run: async (_input, ctx) =>
    ctx.ask({ kind: 'decision', prompt: 'Which way?', options: ['left', 'right'], key: 'way' }),
})
const hang = tool({ name: 'hang', summary: 'Never end', run: () => new Promise(() => undefined) })

type Told = { readonly type: string; readonly [field: string]: any }
type Steps = {
  readonly project: Project
  readonly told: Told[]
  perform(
    call: Partial<StepCall>,
    signal?: AbortSignal,
  ): ReturnType<ReturnType<typeof createPerformTool>>
  again(more?: Partial<StepHost>): Steps
}

async function makeSteps(more: Partial<StepHost> = {}, project = makeProject()): Promise<Steps> {
  const tools = await registry({
    tools: [add, way, hang],
    folders: [join(project.folder, 'tools')],
    cache: false,
  })
  opened.push(tools)
  const open = (given: Partial<StepHost>): Steps => {
    const told: Told[] = []
    const run = createPerformTool({
      registry: tools,
      runsFolder: project.runs,
      cwd: project.folder,
      env: cleanEnvironment(),
      emit: (line) => void told.push(line),
      ...given,
    })
    return {
      project,
      told,
      perform: (call, signal = new AbortController().signal) =>
        run(
          {
            step: 'scan',
            attempt: 1,
            tool: 'count',
            given: { input: { name: 'a', log: project.path('counted') } },
            workflow: WORKFLOW,
            idempotencyKey: `${WORKFLOW}/${call.step ?? 'scan'}`,
            ...call,
          },
          signal,
        ),
      again: (other = {}) => open({ ...given, ...other }),
    }
  }
  return open(more)
}

describe('a program', () => {
  test('is a run of its own, linked to its workflow, under an id that follows from the step, and its tasks are told [9.child-runs] [9.task-events]', async () => {
    const { project, told, perform } = await makeSteps()
    const id = getChildRunId(`${WORKFLOW}/scan`)
    expect(await perform({})).toEqual({
      ok: true,
      value: { name: 'a', key: `${WORKFLOW}/scan` },
      run_id: id,
    })
    expect(project.request(id)).toMatchObject({
      parent: { run_id: WORKFLOW, step: 'scan' },
      retries: 0,
    })
    expect(project.log(id)[0]).toMatchObject({
      type: 'runner_start',
      workflow_attempt: 1,
      parent: { run_id: WORKFLOW, step: 'scan' },
    })
    expect(told.map(({ type }) => type)).toEqual([
      'task_submitted',
      'task_started',
      'task_progress',
      'task_done',
    ])
    expect(told[0]).toMatchObject({
      task_id: 'scan',
      payload: { tool: 'count', input: { name: 'a' } },
    })
    expect(told[2]).toMatchObject({
      child_run_id: id,
      child_event: { type: 'progress', pct: 50, run_id: id },
    })
    expect(told[3]).toMatchObject({
      status: 'ok',
      child_run_id: id,
      child_rc: 0,
      child_result: { name: 'a' },
      events_count: 5,
    })
    // What is on record is not run again.
    expect(await perform({})).toMatchObject({ ok: true, run_id: id })
    expect(project.counted()).toEqual(['a'])
  })

  test('a failure of this try is taken from the record, and another try runs it again in the same folder [9.child-taken]', async () => {
    const { project, perform } = await makeSteps()
    const fail = project.write('fail', 'E_RATE_LIMIT')
    const call = {
      given: { args: ['--name', 'b', '--log', project.path('counted'), '--fail', fail] },
      command: 'count --name b',
    } as const
    const failed = {
      ok: false,
      error: {
        code: 'RATE_LIMIT',
        message: 'b failed',
        retryable: true,
        run_id: getChildRunId(`${WORKFLOW}/scan`),
      },
    }
    expect(await perform(call)).toEqual(failed)
    expect(await perform(call)).toEqual(failed)
    expect(project.counted()).toEqual(['b'])
    rmSync(fail)
    expect(await perform({ ...call, attempt: 2 })).toMatchObject({ ok: true, value: { name: 'b' } })
    expect(project.counted()).toEqual(['b', 'b'])
    expect(project.ids()).toHaveLength(1)
  })

  test('runs where a process died between the folder and the run in it [9.child-taken]', async () => {
    const { project, perform } = await makeSteps()
    const half = join(project.runs, getChildRunId(`${WORKFLOW}/scan`))
    mkdirSync(join(half, 'work'), { recursive: true })
    expect(await perform({})).toMatchObject({ ok: true, value: { name: 'a' } })
    expect(project.counted()).toEqual(['a'])
    expect(readdirSync(project.runs).filter((name) => name.includes('dead'))).toEqual([])
  })

  test('what runs under the key is joined, and one who leaves does not end it for the others [9.child-joined]', async () => {
    const { project, perform, again } = await makeSteps()
    const gate = project.path('gate')
    const call = { given: { input: { name: 'c', log: project.path('counted'), gate } } }
    const leaving = new AbortController()
    const running = [perform(call, leaving.signal), perform(call), again().perform(call)]
    await expect.poll(() => project.counted()).toEqual(['c'])
    leaving.abort('enough')
    expect(await running[0]).toMatchObject({
      ok: false,
      error: { code: 'CANCELLED', message: 'enough' },
    })
    writeFileSync(gate, '')
    expect(await Promise.all(running.slice(1))).toMatchObject([{ ok: true }, { ok: true }])
    expect(project.counted()).toEqual(['c'])
  })

  test('what another process performs is followed to its end, and cancelled through its folder [9.child-joined] [9.cancel-reaches]', async () => {
    const { project, perform } = await makeSteps()
    const gate = project.path('gate')
    const args = ['--name', 'd', '--log', project.path('counted'), '--gate', gate]
    // Another process resumes the very run.
    const stop = new AbortController()
    const first = perform({ given: { args } }, stop.signal)
    await expect.poll(() => project.counted()).toEqual(['d'])
    stop.abort()
    expect(await first).toMatchObject({ ok: false, error: { code: 'CANCELLED' } })
    const id = getChildRunId(`${WORKFLOW}/scan`)
    const other = project.start(['resume', id])
    await expect.poll(() => project.counted()).toEqual(['d', 'd'])
    const leaving = new AbortController()
    const ended = perform({ given: { args } }, leaving.signal)
    leaving.abort({ code: 'TIMEOUT', message: 'too long', retryable: false })
    expect(await ended).toMatchObject({ ok: false, error: { code: 'TIMEOUT', run_id: id } })
    expect((await other.ended).status).toBe(130)
    const third = project.start(['resume', id])
    await expect.poll(() => project.counted()).toEqual(['d', 'd', 'd'])
    const joined = perform({ given: { args } })
    writeFileSync(gate, '')
    expect(await joined).toMatchObject({ ok: true, value: { name: 'd' }, run_id: id })
    expect((await third.ended).status).toBe(0)
    expect(project.counted()).toEqual(['d', 'd', 'd'])
  })

  test('the signal ends it with all that it started before it settles [9.cancel-reaches]', async () => {
    const { project, perform } = await makeSteps()
    const stop = new AbortController()
    const settled = perform(
      {
        given: { input: { name: 'e', log: project.path('counted'), gate: project.path('never') } },
      },
      stop.signal,
    )
    await expect.poll(() => project.counted(), { timeout: 20_000 }).toEqual(['e'])
    const id = getChildRunId(`${WORKFLOW}/scan`)
    const {
      children: [{ pid }],
    } = JSON.parse(readFileSync(join(project.runs, id, 'lock'), 'utf8'))
    expect(isAlive(pid)).toBe(true)
    stop.abort({ code: 'TIMEOUT', message: 'it took longer than 5 seconds', retryable: false })
    expect(await settled).toEqual({
      ok: false,
      error: {
        code: 'TIMEOUT',
        message: 'it took longer than 5 seconds',
        retryable: false,
        run_id: id,
      },
    })
    expect(isAlive(pid)).toBe(false)
    expect(project.log(id).at(-1)).toMatchObject({ type: 'runner_end', state: 'cancelled' })
  })
})

describe('what is no program', () => {
  test('is called, with words read by its own flags [9.step-calls]', async () => {
    const { perform, told, project } = await makeSteps()
    expect(await perform({ tool: 'add', given: { input: { left: 1, right: 2 } } })).toEqual({
      ok: true,
      value: 3,
    })
    expect(
      await perform({
        step: 'b',
        tool: 'add',
        given: { args: ['5', '--right', '-2'] },
        command: 'add 5 --right -2',
      }),
    ).toEqual({ ok: true, value: 3 })
    expect(
      await perform({ step: 'c', tool: 'add', given: { args: ['{"left":4,"right":4}'] } }),
    ).toEqual({ ok: true, value: 8 })
    expect(
      await perform({ step: 'd', tool: 'add', given: { args: ['5', '--rigth', '2'] } }),
    ).toMatchObject({
      ok: false,
      error: { code: 'USAGE', message: expect.stringContaining('did you mean --right?') },
    })
    expect(
      await perform({ step: 'e', tool: 'add', given: { input: { left: 'x', right: 2 } } }),
    ).toMatchObject({
      ok: false,
      error: { code: 'INVALID_INPUT', message: expect.stringContaining('left') },
    })
    expect(
      await perform({ step: 'f', tool: 'hang', given: { input: {} }, timeout: 0.2 }),
    ).toMatchObject({ ok: false, error: { code: 'TIMEOUT' } })
    expect(told.slice(0, 3).map(({ type }) => type)).toEqual([
      'task_submitted',
      'task_started',
      'task_done',
    ])
    expect(project.ids()).toEqual([])
  })

  test('asks through its workflow, and stays open where nobody answers and the host wants that [9.step-questions]', async () => {
    const asked: any[] = []
    const steps = await makeSteps({
      ask: async (question) => (asked.push(question), { value: 'left' }),
    })
    expect(await steps.perform({ step: 'go/0', tool: 'way', given: { input: {} } })).toEqual({
      ok: true,
      value: 'left',
    })
    expect(asked).toMatchObject([
      { task: 'go/0', question: { id: 'go.0.way', prompt: 'Which way?', action: 'way' } },
    ])
    const nobody = { step: 'go/1', tool: 'way', given: { input: {} } }
    expect(await steps.again({ ask: async () => undefined }).perform(nobody)).toMatchObject({
      ok: false,
      error: { code: 'ANSWER_REQUIRED' },
    })
    await expect(
      steps.again({ ask: async () => undefined, leavesUnanswered: true }).perform(nobody),
    ).rejects.toMatchObject({ code: 'ANSWER_REQUIRED' })
  })

  test('an unknown tool is told, with the one that was meant [9.step-calls]', async () => {
    const { perform } = await makeSteps()
    expect(await perform({ tool: 'cuont' })).toMatchObject({
      ok: false,
      error: {
        code: 'NOT_FOUND',
        message: expect.stringContaining("did you mean 'count'?"),
        retryable: false,
      },
    })
  })
})

describe('the permissions of a step', () => {
  test('take away, never add, and hold what says nothing of its own [9.step-permissions]', async () => {
    const project = makeProject({
      'workflow/count.sh': COUNT.replace(
        /permissions.*\n/,
        'permissions: {filesystem: {read: ["/usr/share/**"]}, resources: {memory_mb: 256}}\n',
      ),
    })
    const { perform } = await makeSteps({}, project)
    const given = { given: { input: { name: 'p' } } }
    expect(
      await perform({ ...given, permissions: { filesystem: { read: ['/etc/hostname'] } } }),
    ).toMatchObject({
      ok: false,
      error: { code: 'PERMISSION', message: expect.stringContaining('read /etc/hostname') },
    })
    expect(await perform({ ...given, permissions: { network: 'full' } })).toMatchObject({
      ok: false,
      error: { code: 'PERMISSION', message: expect.stringContaining('talk to every server') },
    })
    expect(
      await perform({ ...given, permissions: { resources: { memory_mb: 512 } } }),
    ).toMatchObject({
      ok: false,
      error: { code: 'PERMISSION', message: expect.stringContaining('memory_mb: 512') },
    })
    expect(project.ids()).toEqual([])
    expect(
      await perform({ ...given, permissions: { filesystem: { read: ['/usr/share/doc/**'] } } }),
    ).toMatchObject({ ok: true })
    expect(project.request(getChildRunId(`${WORKFLOW}/scan`)).permissions).toEqual({
      filesystem: { read: ['/usr/share/doc/**'] },
      resources: { memory_mb: 256 },
    })

    const free = makeProject({})
    const log = free.write('counted', '')
    chmodSync(
      free.write(
        'tools/plain.sh',
        '#!/bin/sh\n# toolable: {"name": "plain", "summary": "Writes", "input": {"type": "object", "properties": {"log": {"type": "string"}}}, "call": "flags"}\nprintf "%s\\n" ran >> "$2" && echo written || echo refused\n',
      ),
      0o755,
    )
    const steps = await makeSteps({}, free)
    const call = { tool: 'plain', given: { args: ['--log', log] } }
    expect(await steps.perform({ ...call, permissions: {} })).toMatchObject({
      ok: true,
      value: expect.anything(),
    })
    expect(free.counted()).toEqual([])
    expect(free.log(getChildRunId(`${WORKFLOW}/scan`))[0]).toMatchObject({ level: 'L3' })
    expect(await steps.perform({ ...call, step: 'free' })).toMatchObject({ ok: true })
    expect(free.counted()).toEqual(['ran'])
    expect(
      await steps.perform({
        step: 'x',
        tool: 'add',
        given: { input: { left: 1, right: 1 } },
        permissions: {},
      }),
    ).toMatchObject({
      ok: false,
      error: { code: 'PERMISSION', message: expect.stringContaining('no program') },
    })
  })
})
