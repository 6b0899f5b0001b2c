import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeFolder } from '../support/run-program.ts'
import { modern, openRaw } from './support/raw-stdio.ts'
import type { Message, RawStdio } from './support/raw-stdio.ts'
import { until } from './support/until.ts'

const EXTENSION = 'io.modelcontextprotocol/tasks'
const able = { elicitation: {}, extensions: { [EXTENSION]: {} } }
const ask = (raw: RawStdio, method: string, params: object) => raw.ask(method, modern(params, able))
const begin = async (raw: RawStdio, name: string): Promise<string> =>
  (await ask(raw, 'tools/call', { name, arguments: {} })).result.taskId as string

async function settled(
  raw: RawStdio,
  taskId: string,
  wanted = /completed|failed|cancelled/,
): Promise<Message['result']> {
  for (;;) {
    const { result } = await ask(raw, 'tasks/get', { taskId })
    if (wanted.test(result.status)) return result
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

describe('the life of a task [5.mcp-tasks]', () => {
  test('is cancelled while it asks: told once, never changed afterwards, deaf to answers', async () => {
    const marker = join(makeFolder(), 'm')
    const raw = openRaw('asks-and-leaves.mjs', [], { env: { MARKER: marker } })
    const taskId = await begin(raw, 'job')
    await settled(raw, taskId, /input_required/)
    raw.write(
      JSON.stringify({
        jsonrpc: '2.0',
        id: 'watch',
        method: 'subscriptions/listen',
        params: modern({ notifications: { taskIds: [taskId, taskId, 'nobody'] } }, able),
      }),
    )
    expect(
      (await raw.heard(({ method }) => method === 'notifications/subscriptions/acknowledged'))
        .params.notifications,
    ).toEqual({ taskIds: [taskId] })
    await ask(raw, 'tasks/cancel', { taskId })
    await until(() => existsSync(`${marker}.aborted`))
    const { result: first } = await ask(raw, 'tasks/get', { taskId })
    expect(first).toMatchObject({ status: 'cancelled' })
    for (const field of ['result', 'error', 'inputRequests'])
      expect(first).not.toHaveProperty(field)
    expect(
      (
        await ask(raw, 'tasks/update', {
          taskId,
          inputResponses: { q: { action: 'accept', content: { answer: 'x' } } },
        })
      ).result,
    ).toMatchObject({ resultType: 'complete' })
    await ask(raw, 'tasks/cancel', { taskId })
    expect((await ask(raw, 'tasks/get', { taskId })).result.lastUpdatedAt).toBe(first.lastUpdatedAt)
    expect(
      raw.messages
        .filter(({ method }) => method === 'notifications/tasks')
        .map(({ params }) => params.status),
    ).toEqual(['cancelled'])
    await raw.end()
  })

  test('an answer that cannot be read is refused and leaves the question open', async () => {
    const raw = openRaw('asks-and-leaves.mjs')
    const taskId = await begin(raw, 'job')
    await settled(raw, taskId, /input_required/)
    for (const inputResponses of [{ q: 7 }, null, ['q']])
      expect((await ask(raw, 'tasks/update', { taskId, inputResponses })).error).toMatchObject({
        code: -32602,
      })
    await ask(raw, 'tasks/update', {
      taskId,
      inputResponses: { q: { action: 'accept', content: { answer: 'yes' } } },
    })
    expect(await settled(raw, taskId)).toMatchObject({
      status: 'completed',
      result: { structuredContent: { answer: 'yes' } },
    })
    await ask(raw, 'tasks/cancel', { taskId })
    expect((await ask(raw, 'tasks/get', { taskId })).result.status).toBe('completed')
    await raw.end()
  })

  test('a flood of words is told now and then, and its end at once', async () => {
    const raw = openRaw('asks-and-leaves.mjs')
    const taskId = await begin(raw, 'chatty')
    raw.write(
      JSON.stringify({
        jsonrpc: '2.0',
        id: 'watch',
        method: 'subscriptions/listen',
        params: modern({ notifications: { taskIds: [taskId] } }, able),
      }),
    )
    await settled(raw, taskId)
    const told = raw.messages.filter(({ method }) => method === 'notifications/tasks')
    expect(told.length).toBeLessThan(20)
    expect(told.at(-1)?.params).toMatchObject({
      status: 'completed',
      result: { structuredContent: { steps: 1000 } },
    })
    expect(
      raw.messages.some(
        ({ method }) => method === 'notifications/progress' || method === 'notifications/message',
      ),
    ).toBe(false)
    await raw.end()
  })

  test('a crash outside of the handler ends its task alone', async () => {
    const raw = openRaw('asks-and-leaves.mjs')
    const taskId = await begin(raw, 'crash')
    expect(await settled(raw, taskId)).toMatchObject({
      status: 'completed',
      result: { isError: true, content: [{ text: expect.stringContaining('late') }] },
    })
    expect(
      (await ask(raw, 'tools/call', { name: 'slow', arguments: { ms: 1 } })).result
        .structuredContent,
    ).toEqual({ slept: 1 })
    await raw.end()
  })

  test('a server that ends aborts its tasks, and exits 0', async () => {
    const marker = join(makeFolder(), 'm')
    const raw = openRaw('asks-and-leaves.mjs', [], { env: { MARKER: marker } })
    await begin(raw, 'job')
    await until(() => existsSync(`${marker}.started`))
    expect((await raw.end()).status).toBe(0)
    expect(existsSync(`${marker}.aborted`)).toBe(true)
  })

  test('behind the doors of progressive mode a tool keeps its policy and its name', async () => {
    const raw = openRaw('asks-and-leaves.mjs', ['--progressive'])
    const run = (name: string, capabilities: object) =>
      raw.ask('tools/call', modern({ name: 'run_tool', arguments: { name } }, capabilities))
    expect((await run('job', able)).result.resultType).toBe('task')
    expect((await run('job', {})).error).toMatchObject({ code: -32021 })
    expect((await run('talker', {})).error).toMatchObject({
      code: -32021,
      message: expect.stringContaining('asks-and-leaves talker'),
    })
    await raw.end()
  })
})
