import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isAlive } from '../support/processes.ts'
import { makeFolder, runProgram } from '../support/run-program.ts'
import { initialize, modern, openRaw } from './support/raw-stdio.ts'
import { until } from './support/until.ts'

const line = (id: number, name: string, input: object = {}): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: input } })}\n`

describe.concurrent('the end of a stdio server [5.mcp-drain]', () => {
  test('calls that run when stdin ends are answered, and the exit is clean', async () => {
    const { status, lines, stderr } = await runProgram('workshop.mjs', ['--serve-mcp', 'stdio'], {
      input: line(1, 'count', { to: 10 }) + line(2, 'add', { a: 1, b: 2 }),
    })
    expect(status).toBe(0)
    expect(
      lines
        .filter(({ id }) => id !== undefined)
        .map(({ id, result }) => [id, result.structuredContent]),
    ).toEqual([
      [2, { sum: 3 }],
      [1, { counted: 10 }],
    ])
    expect(stderr).toBe('')
  })

  test('nothing on stdin is a clean end', async () => {
    expect(await runProgram('workshop.mjs', ['--serve-mcp', 'stdio'], { input: '' })).toMatchObject(
      { status: 0, stdout: '', stderr: '' },
    )
    expect(await runProgram('workshop.mjs', ['mcp', 'serve'], { input: '' })).toMatchObject({
      status: 0,
      stdout: '',
    })
  })

  test('a call that never ends is aborted some seconds after stdin, and its child is gone', async () => {
    const raw = openRaw('starts-children.mjs')
    void raw.ask('tools/call', { name: 'nurse' }).catch(() => undefined)
    const log = await raw.heard(({ method }) => method === 'notifications/message')
    const child = Number(/child (\d+)/.exec(JSON.stringify(log))?.[1])
    expect(isAlive(child)).toBe(true)
    const { status } = await raw.end()
    expect(status).toBe(0)
    await until(() => !isAlive(child))
    expect(raw.strays).toEqual([])
  })

  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s aborts what runs and ends the server, without a child left',
    async (signal) => {
      const raw = openRaw('starts-children.mjs')
      void raw.ask('tools/call', { name: 'nurse' }).catch(() => undefined)
      const log = await raw.heard(({ method }) => method === 'notifications/message')
      raw.program.kill(signal)
      await raw.program.ended
      await until(() => !isAlive(Number(/child (\d+)/.exec(JSON.stringify(log))?.[1])))
    },
  )

  test('a client that vanishes with both pipes ends the server, and the handler is aborted', async () => {
    const marker = join(makeFolder(), 'wait')
    const raw = openRaw('workshop.mjs')
    raw.write(line(1, 'wait', { marker }).trim())
    await until(() => existsSync(`${marker}.started`))
    raw.program.child.stdout.destroy()
    raw.program.child.stdin.destroy()
    await raw.program.ended
    await until(() => existsSync(`${marker}.aborted`))
  })
})

describe('while a stdio server works', () => {
  test('a cancelled call is aborted and never answered; others are not disturbed [5.mcp-cancel]', async () => {
    const marker = join(makeFolder(), 'wait')
    const raw = openRaw('workshop.mjs')
    raw.write(
      JSON.stringify({
        jsonrpc: '2.0',
        id: 'slow',
        method: 'tools/call',
        params: { name: 'wait', arguments: { marker } },
      }),
    )
    await until(() => existsSync(`${marker}.started`))
    const counting = raw.ask('tools/call', { name: 'count', arguments: { to: 3 } })
    raw.write(
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"slow","reason":"changed my mind"}}',
    )
    await until(() => existsSync(`${marker}.aborted`))
    expect(readFileSync(`${marker}.aborted`, 'utf8')).toContain('cancel')
    expect((await counting).result.structuredContent).toEqual({ counted: 3 })
    await raw.end()
    expect(raw.messages.some(({ id }) => id === 'slow')).toBe(false)
  })

  test('many calls at once are each answered once, whatever their order [5.serve-mcp]', async () => {
    const raw = openRaw('workshop.mjs')
    const answers = await Promise.all(
      Array.from({ length: 500 }, (_, index) =>
        raw.ask('tools/call', { name: 'add', arguments: { a: index, b: 1 } }, `n${index}`),
      ),
    )
    expect(answers.map(({ result }) => result.structuredContent.sum)).toEqual(
      Array.from({ length: 500 }, (_, index) => index + 1),
    )
    await raw.end()
    expect(raw.messages).toHaveLength(500)
  })

  test('progress goes only to who gave a token, grows, and is thinned in a flood [5.mcp-progress]', async () => {
    const raw = openRaw('takes-its-time.mjs')
    await raw.ask('tools/call', { name: 'steps', arguments: {} })
    expect(raw.messages.some(({ method }) => method === 'notifications/progress')).toBe(false)
    await raw.ask('tools/call', { name: 'steps', arguments: {}, _meta: { progressToken: 7 } })
    expect(
      raw.messages
        .filter(({ method }) => method === 'notifications/progress')
        .map(({ params }) => params),
    ).toEqual(
      [25, 50, 75, 100].map((progress, index) => ({
        progressToken: 7,
        progress,
        total: 100,
        message: `step ${index + 1}`,
      })),
    )

    void raw
      .ask(
        'tools/call',
        { name: 'flood', arguments: {}, _meta: { progressToken: 'flood' } },
        'flood',
      )
      .catch(() => undefined)
    const told = (): number[] =>
      raw.messages
        .filter(({ params }) => params?.progressToken === 'flood')
        .map(({ params }) => params.progress)
    await until(() => told().length >= 22)
    expect(told().every((value, index, all) => index === 0 || value > all[index - 1]!)).toBe(true)
    expect((await raw.ask('ping')).result).toEqual({})
    raw.write('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"flood"}}')
    expect((await raw.ask('ping')).result).toEqual({})
    expect((await raw.end()).status).toBe(0)
  })

  test('log lines come as they were asked for, in both generations [5.mcp-log]', async () => {
    const raw = openRaw('takes-its-time.mjs')
    const logs = (): number =>
      raw.messages.filter(({ method }) => method === 'notifications/message').length
    await raw.ask('tools/call', modern({ name: 'chatter', arguments: { times: 3 } }))
    expect(logs()).toBe(0)
    await raw.ask(
      'tools/call',
      modern(
        { name: 'chatter', arguments: { times: 3 } },
        {},
        { 'io.modelcontextprotocol/logLevel': 'info' },
      ),
    )
    expect(logs()).toBe(3)
    await initialize(raw)
    await raw.ask('logging/setLevel', { level: 'error' })
    await raw.ask('tools/call', { name: 'chatter', arguments: { times: 3 } })
    expect(logs()).toBe(3)
    await raw.ask('logging/setLevel', { level: 'debug' })
    await raw.ask('tools/call', { name: 'chatter', arguments: { times: 2000 } })
    expect(logs()).toBe(2003)
    await raw.end()
  })

  test('without a client that can ask, the approval of the host counts, unless it must not [4.confirm-mcp]', async () => {
    const erase = { name: 'erase', arguments: { what: 'disk' } }
    const [trusting, strict] = [
      openRaw('workshop.mjs'),
      openRaw('workshop.mjs', ['--confirm', 'always']),
    ]
    expect((await trusting.ask('tools/call', erase)).result.structuredContent).toEqual({
      erased: 'disk',
    })
    for (const params of [erase, modern(erase)]) {
      const { result, error } = await strict.ask('tools/call', params)
      expect(JSON.stringify(result ?? error)).toMatch(/CONFIRMATION_REQUIRED|elicitation/)
    }
    await Promise.all([trusting.end(), strict.end()])
  })

  test('a big result and a client that reads late lose nothing [5.serve-mcp]', async () => {
    const raw = openRaw('takes-its-time.mjs')
    raw.program.child.stdout.pause()
    const answers = Promise.all(
      [1, 2, 3].map((id) =>
        raw.ask('tools/call', { name: 'big', arguments: { bytes: 3_000_000 } }, id),
      ),
    )
    await new Promise((resolve) => setTimeout(resolve, 200))
    raw.program.child.stdout.resume()
    for (const { result } of await answers)
      expect(result.content[0].text.length).toBeGreaterThan(1_500_000)
    await raw.end()
    expect(raw.strays).toEqual([])
  })

  test('lists come in pages that a client can walk [5.mcp-pages]', async () => {
    const raw = openRaw('many-tools.mjs', ['--no-progressive', '--page-size', '7'], {
      env: { MANY: '30' },
    })
    const names: string[] = []
    let cursor: string | undefined
    do {
      const { result } = await raw.ask('tools/list', cursor === undefined ? {} : { cursor })
      expect(result.tools.length).toBeLessThanOrEqual(7)
      names.push(...result.tools.map(({ name }: { readonly name: string }) => name))
      cursor = result.nextCursor
    } while (cursor !== undefined)
    expect(names).toHaveLength(30)
    expect(new Set(names).size).toBe(30)
    await raw.end()
  })

  test('older clients hear of changed lists, newer ones when they subscribe [5.mcp-list-changed]', async () => {
    const raw = openRaw('workshop.mjs')
    expect((await initialize(raw)).result.capabilities).toMatchObject({
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
    })
    await raw.ask('tools/call', { name: 'change', arguments: { what: 'tools' } })
    await raw.heard(({ method }) => method === 'notifications/tools/list_changed')
    expect((await raw.ask('tools/list')).result.tools.at(-1)).toMatchObject({ name: 'brand_new' })
    expect((await raw.ask('tools/call', { name: 'brand_new' })).result.content).toEqual([
      { type: 'text', text: 'new' },
    ])

    raw.write(
      JSON.stringify({
        jsonrpc: '2.0',
        id: 'sub',
        method: 'subscriptions/listen',
        params: modern({
          notifications: { promptsListChanged: true, resourceSubscriptions: ['notes://today'] },
        }),
      }),
    )
    const tagged = (name: string) =>
      raw.heard(
        ({ method, params }) =>
          method === `notifications/${name}` &&
          params?._meta?.['io.modelcontextprotocol/subscriptionId'] === 'sub',
      )
    expect((await tagged('subscriptions/acknowledged')).params.notifications).toEqual({
      promptsListChanged: true,
      resourceSubscriptions: ['notes://today'],
    })
    await raw.ask('tools/call', modern({ name: 'change', arguments: { what: 'resource' } }))
    expect((await tagged('resources/updated')).params.uri).toBe('notes://today')
    await raw.ask('tools/call', modern({ name: 'change', arguments: { what: 'prompts' } }))
    await tagged('prompts/list_changed')
    raw.write('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"sub"}}')
    const { status } = await raw.end()
    expect(status).toBe(0)
    expect(
      raw.messages.some(
        ({ method, params }) => method === 'notifications/tools/list_changed' && params?._meta,
      ),
    ).toBe(false)
  })
})
