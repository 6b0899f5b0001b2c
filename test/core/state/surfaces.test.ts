import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import { createHandler, registry, toNode } from 'toolable'
import type { CallOptions, Registry, Toolset } from 'toolable'
import { make } from '../../fixtures/keeps-notes.mjs'
import { sdk } from '../../mcp/clients/drivers.mjs'
import type { Session } from '../../mcp/clients/drivers.mjs'
import { stdioTarget } from '../../mcp/support/target.ts'

type Answer = { readonly ok: boolean; readonly result?: unknown; readonly text: string }
type Door = {
  call(name: string, input?: object, options?: { signal?: AbortSignal }): Promise<Answer>
  /** Whether a person who agrees can be asked. */ readonly asks: boolean
}

const closing: (() => unknown)[] = []
afterAll(async () => {
  for (const close of closing.reverse()) await close()
})

const registryOf = async (): Promise<Registry> => {
  const all = await registry({ tools: [make().set], cache: false })
  closing.push(() => all.close())
  return all
}
const ruledRegistry = async (): Promise<Registry> => {
  const { set, rules } = make({ ruled: false })
  const all = await registry({ tools: [set], ...rules, cache: false })
  closing.push(() => all.close())
  return all
}

const inProcess = (served: Toolset | Registry, options: CallOptions = {}): Door => ({
  asks: true,
  async call(name, input = {}, how = {}) {
    const outcome = await served.call(name, input, { answer: () => true, ...options, ...how })
    return {
      ok: outcome.ok,
      ...(outcome.ok && { result: outcome.result }),
      text: JSON.stringify(outcome),
    }
  },
})

async function listen(served: Toolset | Registry): Promise<string> {
  const server: Server = createServer(toNode(createHandler(served)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function overHttp(served: Toolset | Registry): Promise<Door> {
  const url = await listen(served)
  return {
    asks: false,
    async call(name, input = {}, { signal } = {}) {
      const response = await fetch(`${url}/tools/${name}`, {
        method: 'POST',
        body: JSON.stringify(input),
        headers: { 'content-type': 'application/json' },
        ...(signal && { signal }),
      })
      const text = await response.text()
      const { ok, result } = JSON.parse(text) as Answer
      expect(response.ok).toBe(ok)
      return { ok, result, text }
    },
  }
}

const overSession = (session: Session): Door => {
  closing.push(() => session.close())
  return {
    asks: true,
    async call(name, input = {}, how = {}) {
      const result = await session.call(name, input, how)
      return {
        ok: result.isError !== true,
        result: result.structuredContent,
        text: JSON.stringify(result.content),
      }
    },
  }
}
const agrees = { answers: [{ action: 'accept', content: { answer: true } }] } as never

const doors: readonly (readonly [string, () => Promise<Door>])[] = [
  ['a toolset in process', async () => inProcess(make().set)],
  ['a toolset in a registry', async () => inProcess(await registryOf())],
  [
    'a registry, on the state of the caller',
    async () => {
      const { set, rules } = make({ ruled: false })
      const all = await registry({ tools: [set], cache: false })
      closing.push(() => all.close())
      return inProcess(all, rules)
    },
  ],
  ['a registry with guards and state', async () => inProcess(await ruledRegistry())],
  ['a toolset over HTTP', async () => overHttp(make().set)],
  ['a registry with guards and state over HTTP', async () => overHttp(await ruledRegistry())],
  [
    'a toolset over MCP, stdio, older protocol',
    async () => overSession(await sdk('legacy')(stdioTarget('keeps-notes.mjs'), agrees)),
  ],
  [
    'a toolset over MCP, stdio, newer protocol',
    async () => overSession(await sdk('auto')(stdioTarget('keeps-notes.mjs'), agrees)),
  ],
  [
    'a registry with guards and state over MCP, HTTP',
    async () =>
      overSession(await sdk('auto')({ url: `${await listen(await ruledRegistry())}/mcp` }, agrees)),
  ],
]

describe.each(doors)('%s', (_name, open) => {
  test('[8.state-surfaces] calls share the state and its files; a failed one leaves nothing but its log; guards remember there, and ask', async () => {
    const { call, asks } = await open()
    const early = await call('publish')
    expect([early.ok, early.text.includes('requires: note')]).toEqual([false, true])
    expect(await call('note', { text: 'one' })).toMatchObject({ ok: true, result: { notes: 1 } })
    const bad = await call('note', { text: 'bad two' })
    expect([bad.ok, bad.text.includes('such a note is not kept')]).toEqual([false, true])
    expect(await call('note', { text: 'three' })).toMatchObject({ ok: true, result: { notes: 2 } })
    expect(await call('read_notes')).toMatchObject({
      ok: true,
      result: {
        notes: ['one', 'three'],
        attempts: ['one', 'bad two', 'three'],
        file: 'one\nthree\n',
      },
    })
    expect(await call('read_file', { path: 'notes.txt', offset: 1 })).toMatchObject({
      ok: true,
      result: { text: 'three', total: 2 },
    })
    const published = await call('publish')
    if (asks) expect(published).toMatchObject({ ok: true, result: { published: true } })
    else expect([published.ok, published.text.includes('ANSWER_REQUIRED')]).toEqual([false, true])
  })

  test('[8.state-surfaces] a call that is cancelled in the middle leaves nothing but its log', async () => {
    const { call } = await open()
    const stop = new AbortController()
    const cancelled = call('note', { text: 'slow' }, { signal: stop.signal }).then(
      ({ ok }) => ok,
      () => false,
    )
    await expect
      .poll(async () => ((await call('read_notes')).result as { attempts: string[] }).attempts)
      .toEqual(['slow'])
    stop.abort()
    expect(await cancelled).toBe(false)
    expect(await call('note', { text: 'after' })).toMatchObject({ ok: true, result: { notes: 1 } })
    expect(await call('read_notes')).toMatchObject({
      ok: true,
      result: { notes: ['after'], attempts: ['slow', 'after'], file: 'after\n' },
    })
  })

  test('[8.state-surfaces] of calls at the same time nothing is lost', async () => {
    const { call } = await open()
    const made = await Promise.all(
      Array.from({ length: 8 }, async (_, index) => {
        // Those that meet in the file are told to try again.
        for (;;) {
          const answer = await call('note', { text: `n${index}` })
          if (answer.ok || !answer.text.includes('changed by somebody else')) return answer
        }
      }),
    )
    expect(made.every(({ ok }) => ok)).toBe(true)
    const { result } = (await call('read_notes')) as { result: { notes: string[]; file: string } }
    expect(result.notes.toSorted()).toEqual(Array.from({ length: 8 }, (_, index) => `n${index}`))
    expect(result.file.trim().split('\n').toSorted()).toEqual(result.notes.toSorted())
  })
})
