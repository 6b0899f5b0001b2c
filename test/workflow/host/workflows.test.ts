import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { registry, tool, workflow, workflows } from 'toolable'
import type { Registry, Workflows } from 'toolable'
import { makeProject } from '../support.ts'

let place: string
let open: (Workflows | Registry)[]
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'workflows-'))
  open = []
})
afterEach(async () => {
  for (const one of open.reverse()) await one.close()
  rmSync(place, { recursive: true, force: true })
})

const double = tool({
  name: 'double',
  summary: 'Doubles',
  input: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const,
  run: ({ n }) => Number(n) * 2,
})
const fails = tool({
  name: 'fails',
  summary: 'Fails',
  run: () => {
    throw new Error('no')
  },
})
const steps = [
  { name: 'a', tool: 'double', input: { n: '${{ input.n }}' } },
  { name: 'b', tool: 'double', input: { n: '${{ steps.a.result }}' } },
]

async function host(more: object = {}, options: object = {}): Promise<Workflows> {
  const tools = await registry({ tools: [double, fails], cwd: place, cache: false, ...more })
  open.push(tools)
  const opened = await workflows({
    registry: tools,
    folder: join(place, '.runs'),
    cwd: place,
    ...options,
  })
  open.push(opened)
  return opened
}

const folders = (): readonly string[] =>
  readdirSync(join(place, '.runs')).filter((name) => name.startsWith('r-'))

describe('a host of workflows', () => {
  test('[9.host-light] calls in this process need no folder of their own; they are found again by their id', async () => {
    const opened = await host()
    const { id, done } = await opened.start({ name: 'twice', steps }, { n: 5 })
    expect(await done).toMatchObject({ id, name: 'twice', state: 'completed', result: 20 })
    expect(folders()).toEqual([])
    expect(await opened.get(id)).toMatchObject({ state: 'completed', result: 20 })
    expect(await opened.list({ name: 'twice' })).toEqual([
      expect.objectContaining({ id, state: 'completed' }),
    ])
    expect(await opened.list({ name: 'other' })).toEqual([])
  })

  test('[9.host-light] a failure is how it ended; an input that does not fit, an unknown tool and a bad definition are told at once', async () => {
    const opened = await host()
    const { done } = await opened.start({ name: 'bad', steps: [{ name: 'x', tool: 'fails' }] })
    expect(await done).toMatchObject({
      state: 'failed',
      error: { code: 'INTERNAL', message: expect.stringContaining('no'), details: { step: 'x' } },
    })
    const input = {
      type: 'object',
      properties: { n: { type: 'number' } },
      required: ['n'],
      additionalProperties: false,
    }
    await expect(opened.start({ name: 'twice', input, steps }, { n: 'x' })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('n'),
    })
    await expect(
      opened.start({ name: 'x', steps: [{ name: 'x', tool: 'duoble' }] }),
    ).rejects.toMatchObject({ code: 'CONFIG', message: expect.stringContaining('double') })
    await expect(
      opened.start({ name: 'x', steps: [{ name: 'x', kind: 'odd' }] }),
    ).rejects.toMatchObject({ code: 'CONFIG' })
    await expect(opened.start({ name: 'x', steps }, {}, { id: '../../etc' })).rejects.toMatchObject(
      { code: 'INVALID_INPUT' },
    )
  })

  test('[9.host-run] what asks is a run on record, and anybody answers it, once', async () => {
    const opened = await host()
    const asking = workflow({ name: 'asks' }, (w) => {
      const go = w.decision('go', {
        decisionType: 'go_on',
        instruction: 'Go on?',
        options: ['yes', 'no'],
      })
      return { went: go.result }
    })
    const { id, done } = await opened.start(asking)
    await expect.poll(async () => (await opened.get(id))?.state).toBe('waiting_ai')
    expect(await opened.get(id)).toMatchObject({
      name: 'asks',
      questions: [{ id: 'go', prompt: 'Go on?' }],
    })
    expect(folders()).toEqual([id])
    await expect(opened.answer(id, 'go', 'perhaps')).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    })
    await expect(opened.answer(id, 'else', 'yes')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await opened.answer(id, 'go_on', 'yes')
    expect(await done).toMatchObject({ state: 'completed', result: { went: 'yes' } })
    await expect(opened.answer(id, 'go', 'no')).rejects.toMatchObject({ code: 'PRECONDITION' })
    expect(await opened.list({ state: 'completed' })).toEqual([
      expect.objectContaining({ id, name: 'asks' }),
    ])
  })

  test('[9.host-run] the host answers, where it can', async () => {
    const opened = await host({}, { answer: () => 'yes' })
    const { done } = await opened.start({
      name: 'asks',
      steps: [{ name: 'go', type: 'ai_decision', decision_type: 'go_on' }],
    })
    expect(await done).toMatchObject({ state: 'completed', result: 'yes' })
  })

  test('[9.host-run] programs are runs of their own, once for each step', async () => {
    const project = makeProject()
    const opened = await host({ folders: [project.path('tools')] })
    const { id, done } = await opened.start({
      name: 'counts',
      steps: [
        { name: 'one', command: `count --name a --log ${project.path('counted')}` },
        { name: 'two', command: `count --name b --log ${project.path('counted')}` },
      ],
    })
    expect(await done).toMatchObject({ state: 'completed' })
    expect(project.counted()).toEqual(['a', 'b'])
    expect(folders()).toContain(id)
    expect(folders()).toHaveLength(3)
  })

  test('[9.host-resume] an id that was started is joined; what a host left goes on when it is opened again', async () => {
    const definition = {
      name: 'asks',
      steps: [
        { name: 'first', tool: 'double', input: { n: 1 } },
        { name: 'go', type: 'ai_decision', decision_type: 'go_on' },
      ],
    }
    const before = await host()
    const { id } = await before.start(definition, {}, { id: 'r-00000000aa' })
    await expect.poll(async () => (await before.get(id))?.questions?.length).toBe(1)
    const joined = await before.start(definition, {}, { id })
    await before.close()
    expect(await joined.done).toMatchObject({ state: 'failed', error: { code: 'INTERRUPTED' } })
    const idle = await host({}, { resume: false })
    await expect(idle.cancel(id)).rejects.toMatchObject({
      code: 'PRECONDITION',
      message: expect.stringContaining('nobody performs'),
    })
    const after = await host()
    await expect.poll(async () => (await after.get(id))?.state).toBe('waiting_ai')
    await after.answer(id, 'go', 'yes')
    const { done } = await after.start(definition, {}, { id })
    expect(await done).toMatchObject({ state: 'completed', result: 'yes' })
  })

  test('[9.host-cancel] cancelling takes back what was done', async () => {
    const undone: unknown[] = []
    const undo = tool({
      name: 'undo',
      summary: 'Takes back',
      run: () => {
        undone.push('undo')
      },
    })
    const opened = await host({ tools: [double, undo] })
    const { id, done } = await opened.start({
      name: 'asks',
      steps: [
        { name: 'first', tool: 'double', input: { n: 1 }, compensate: { tool: 'undo' } },
        { name: 'go', type: 'ai_decision', decision_type: 'go_on' },
      ],
    })
    await expect.poll(async () => (await opened.get(id))?.questions?.length).toBe(1)
    await opened.cancel(id, 'changed my mind')
    expect(await done).toMatchObject({ state: 'cancelled' })
    expect(undone).toEqual(['undo'])
    await expect(opened.cancel(id)).rejects.toMatchObject({ code: 'PRECONDITION' })
  })
})
