import { afterAll, expect, test } from 'vitest'
import { tool } from '../../src/core/tool.ts'
import { createHttpApp } from '../../src/http/app.ts'
import { createFetchHandler } from '../../src/http/handler.ts'
import { listenHttp } from '../../src/http/node-server.ts'
import { toolset } from '../../src/cli/toolset.ts'
import { loadSet, post } from './support/doors.ts'

let begun = 0
let aborted = 0
const later = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds))
const set = toolset({
  name: 'events',
  tools: [
    tool({
      name: 'waits_a_little',
      summary: 'Wait',
      run: async () => {
        await later(100)
        return 'done'
      },
    }),
    tool({
      name: 'waits',
      summary: 'Wait',
      run: (_input, ctx) =>
        new Promise<void>(() => {
          begun++
          ctx.signal.addEventListener('abort', () => {
            aborted++
          })
        }),
    }),
  ],
})
const app = createHttpApp(set, { keepAlive: 10 })
const server = await listenHttp(app, { host: '127.0.0.1', port: 0, grace: 50 })
afterAll(() => server.close())

test('[10.http-events] comments keep a silent stream alive', async () => {
  const text = await (
    await fetch(`${server.url}/tools/waits_a_little?stream=true`, post({}))
  ).text()
  expect(text).toMatch(/^(: still working\n\n)+event: result\ndata: \{.*\}\n\n$/)
})

test('[10.http-client-gone] cancelling the stream of a fetch handler aborts the call', async () => {
  const answer = await createFetchHandler(app)(
    new Request('http://localhost/tools/waits?stream=true', post({})),
  )
  const reader = answer.body!.getReader()
  expect(new TextDecoder().decode((await reader.read()).value)).toBe(': still working\n\n')
  const before = aborted
  await reader.cancel()
  await expect.poll(() => aborted).toBe(before + 1)
})

test('[10.http-client-gone] the signal of a Request cancels its call', async () => {
  const gone = new AbortController()
  const before = aborted
  const already = begun
  const call = createFetchHandler(app)(
    new Request('http://localhost/tools/waits', { ...post({}), signal: gone.signal }),
  )
  await expect.poll(() => begun).toBe(already + 1)
  gone.abort()
  const answer = await call
  expect([answer.status, await answer.json(), aborted]).toEqual([
    499,
    expect.objectContaining({ error: expect.objectContaining({ code: 'CANCELLED' }) }),
    before + 1,
  ])
})

test('a toolset of another copy of the package is served too, and cancelled', async () => {
  const foreign = createHttpApp((await loadSet()) as never)
  const gone = new AbortController()
  const answer = await createFetchHandler(foreign)(
    new Request('http://localhost/tools/say_it', post({ text: 'a' })),
  )
  expect(await answer.json()).toMatchObject({ ok: true, result: { said: 'a' } })
  const call = createFetchHandler(foreign)(
    new Request('http://localhost/tools/waits', { ...post({}), signal: gone.signal }),
  )
  setTimeout(() => gone.abort(), 20)
  expect((await call).status).toBe(499)
})
