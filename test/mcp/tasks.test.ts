import { afterAll, describe, expect, test } from 'vitest'
import { modern, openRaw } from './support/raw-stdio.ts'
import type { Message } from './support/raw-stdio.ts'

const EXTENSION = 'io.modelcontextprotocol/tasks'
const capabilities = { elicitation: {}, extensions: { [EXTENSION]: {} } }

describe('long calls as tasks, over stdio [5.mcp-tasks]', () => {
  const raw = openRaw('conformance.mjs', ['--no-progressive'])
  afterAll(() => raw.end())
  const call = (name: string, args: object = {}, able: object = capabilities, more: object = {}) =>
    raw.ask('tools/call', modern({ name, arguments: args, ...more }, able))
  const get = (taskId: string) => raw.ask('tasks/get', modern({ taskId }, capabilities))

  async function settle(
    taskId: string,
    wanted = /completed|failed|cancelled/,
  ): Promise<Message['result']> {
    for (;;) {
      const { result } = await get(taskId)
      if (wanted.test(result.status)) return result
      await new Promise((resolve) => setTimeout(resolve, 30))
    }
  }

  test('a quick call is answered at once, a long one hands out a task', async () => {
    expect((await call('slow_compute', { seconds: 0 })).result).toMatchObject({
      resultType: 'complete',
      content: [{ text: 'work done after 0 s' }],
    })
    const { result } = await call('slow_compute', { seconds: 0.5, label: 'sum' })
    expect(result).toMatchObject({
      resultType: 'task',
      status: 'working',
      taskId: expect.stringMatching(/^\S{20,}$/),
      ttlMs: expect.any(Number),
      pollIntervalMs: expect.any(Number),
    })
    expect(await settle(result.taskId)).toMatchObject({
      status: 'completed',
      result: { content: [{ text: 'sum done after 0.5 s' }] },
    })
  })

  test('a client that knows no tasks waits, or is told that it needs them', async () => {
    expect((await call('slow_compute', { seconds: 0.3 }, {})).result.resultType).toBe('complete')
    expect((await call('failing_job', {}, {})).error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { extensions: { [EXTENSION]: {} } } },
    })
    expect(
      (await raw.ask('tools/call', { name: 'slow_compute', arguments: { seconds: 0.3 } })).result
        .content,
    ).toMatchObject([{ text: 'work done after 0.3 s' }])
  })

  test('a failed tool is a completed task, an error of the protocol a failed one', async () => {
    const [tool, protocol] = await Promise.all([call('failing_job'), call('protocol_error_job')])
    expect(await settle(tool.result.taskId)).toMatchObject({
      status: 'completed',
      result: { isError: true },
    })
    const failed = await settle(protocol.result.taskId)
    expect(failed).toMatchObject({
      status: 'failed',
      error: { code: -32603, message: 'the job broke the protocol' },
    })
    expect(failed).not.toHaveProperty('result')
  })

  test('questions of a task wait in it, and the handler goes on with the answers', async () => {
    const { result } = await call('multi_input')
    const asking = await settle(result.taskId, /input_required/)
    expect(Object.keys(asking.inputRequests)).toEqual(['first', 'second'])
    const answer = (key: string, name: string) =>
      raw.ask(
        'tasks/update',
        modern(
          {
            taskId: result.taskId,
            inputResponses: { [key]: { action: 'accept', content: { name } } },
          },
          capabilities,
        ),
      )
    expect((await answer('first', 'Ann')).result).toMatchObject({ resultType: 'complete' })
    expect(Object.keys((await get(result.taskId)).result.inputRequests)).toEqual(['second'])
    await answer('nobody', 'Eve')
    await answer('second', 'Bob')
    expect(await settle(result.taskId)).toMatchObject({
      result: { content: [{ text: 'Ann and Bob' }] },
    })
  })

  test('a task is cancelled once, and what is unknown is refused', async () => {
    const { result } = await call('slow_compute', { seconds: 60 })
    for (let time = 0; time < 2; time++)
      expect(
        (await raw.ask('tasks/cancel', modern({ taskId: result.taskId }, capabilities))).result,
      ).toMatchObject({ resultType: 'complete' })
    expect((await settle(result.taskId)).status).toBe('cancelled')
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update'])
      expect(
        (await raw.ask(method, modern({ taskId: 'nobody', inputResponses: {} }, capabilities)))
          .error,
      ).toMatchObject({ code: -32602 })
  })

  test('a client that subscribes hears of its task', async () => {
    const { result } = await call('slow_compute', { seconds: 0.4 })
    raw.write(
      JSON.stringify({
        jsonrpc: '2.0',
        id: 'watch',
        method: 'subscriptions/listen',
        params: modern({ notifications: { taskIds: [result.taskId] } }, capabilities),
      }),
    )
    const news = await raw.heard(
      ({ method, params }) =>
        method === 'notifications/tasks' &&
        params?.taskId === result.taskId &&
        params?.status === 'completed',
    )
    expect(news.params).toMatchObject({ result: { content: [{ text: 'work done after 0.4 s' }] } })
    raw.write('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"watch"}}')
  })
})
