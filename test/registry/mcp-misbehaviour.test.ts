import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { registry } from 'toolable'
import type { Registry, RegistryOptions } from 'toolable'
import { afterAll, describe, expect, test } from 'vitest'
import { freePort } from '../../scripts/conformance/free-port.mjs'
import { cleanEnvironment, fixture, makeFolder, startProgram } from '../support/run-program.ts'
import { isAlive, untilGone } from '../support/processes.ts'
import { childrenWith } from './support/processes.ts'

type McpServerOptions = NonNullable<RegistryOptions['mcpServers']>[string]

const env = cleanEnvironment({ CANARY: 'of-the-host', TOKEN: 'a-very-secret-token' })
const opened: Registry[] = []
const open = async (
  mcpServers: { readonly [name: string]: McpServerOptions },
  more: RegistryOptions = {},
): Promise<Registry> => {
  const reg = await registry({ cwd: makeFolder(), env, cache: false, mcpServers, ...more })
  opened.push(reg)
  return reg
}
const server = (name: string, more: Partial<McpServerOptions> = {}): McpServerOptions => ({
  command: name.endsWith('.py') ? 'python3' : process.execPath,
  args: [fixture(`servers/${name}`)],
  timeout: 30,
  ...more,
})
const closeAll = (): Promise<unknown> => Promise.all(opened.splice(0).map((reg) => reg.close()))
afterAll(closeAll)

describe('[6.mcp-dead-server] a server that does not work is told, and delays nobody', () => {
  test('dead in every way, with what it said and what to do', async () => {
    const reg = await open({
      good: server('answers-plainly.mjs'),
      silent: server('never-answers.mjs', { timeout: '600ms' }),
      broken: server('ends-at-once.mjs'),
      floods: server('floods-stdout.mjs', { timeout: 60 }),
      nowhere: { command: 'no-such-program-anywhere' },
      elsewhere: server('answers-plainly.mjs', { cwd: '/no/such/folder' }),
      unset: server('answers-plainly.mjs', { env: { KEY: '${NO_SUCH_VARIABLE}' } }),
      endless: server('never-ends-its-list.mjs'),
      nothing: {},
      refused: { url: `http://127.0.0.1:${await freePort()}/mcp` },
      odd: { url: 'ftp://127.0.0.1/mcp' },
    })
    expect(reg.list().map(({ name }) => name)).toEqual(['echo', 'refuse', 'wait', 'where_am_i'])
    const problems = Object.fromEntries(
      reg.problems().map(({ source, reason, message }) => [source, `${reason}: ${message}`]),
    )
    expect(problems).toEqual({
      silent: expect.stringMatching(/^dead: .*no answer within 0.6 seconds/),
      broken: expect.stringMatching(
        /^dead: .*exited with status 1\nError: Cannot find module 'left-pad'/,
      ),
      floods: expect.stringMatching(/^dead: .*flooded stdout.*listening on all interfaces/),
      nowhere: expect.stringMatching(/^dead: .*"no-such-program-anywhere" was not found/),
      elsewhere: expect.stringMatching(/^dead: .*no such directory/),
      unset: expect.stringMatching(/^config: .*NO_SUCH_VARIABLE/),
      endless: expect.stringMatching(/^dead: .*listMaxPages/),
      nothing: expect.stringMatching(/^config: .*'command' to start or a 'url'/),
      refused: expect.stringMatching(/^dead: .*ECONNREFUSED/),
      odd: expect.stringMatching(/^config: .*http:\/\//),
    })
    for (const { fix } of reg.problems()) expect(fix).not.toBe('')
    expect(await reg.call('echo', { text: 'alive' })).toMatchObject({
      ok: true,
      result: { text: 'alive' },
    })
  })

  test('gets variables by name only, and tells a secret to nobody', async () => {
    const reg = await open({
      hand: server('answers-plainly.mjs', {
        env: { SECRET_TOKEN: '${TOKEN}', MODE: '${MODE:-quiet}' },
      }),
      dies: server('dies-at-a-call.mjs', { env: { SECRET_TOKEN: '${TOKEN}' } }),
    })
    expect(await reg.describe('hand.where_am_i')).toMatchObject({
      original_name: 'Where Am I?',
      manifest: { title: 'Where', annotations: { readOnly: true } },
    })
    const outcome = await reg.call('hand.where_am_i', {})
    expect(outcome).toMatchObject({
      ok: true,
      result: { env: { SECRET_TOKEN: 'a-very-secret-token', MODE: 'quiet' } },
    })
    expect(JSON.stringify(outcome)).not.toContain('of-the-host')
    const dead = await reg.call('dies.echo', { text: 'die' })
    expect(dead).toMatchObject({
      ok: false,
      error: {
        code: 'DEPENDENCY',
        retryable: true,
        message: expect.stringContaining('it exited with status 3'),
        details: { stderr: 'the token is ***\ncannot go on' },
      },
    })
    expect(await reg.call('dies.echo', { text: 'live' })).toMatchObject({ ok: true })
  })
})

describe('[6.mcp-hostile] a server that misbehaves', () => {
  test('may chat, answer twice and answer for others: the right answer counts', async () => {
    const reg = await open({
      chats: server('chats-on-stdout.mjs'),
      twice: server('answers-twice.mjs'),
    })
    for (const source of ['chats', 'twice']) {
      const texts = ['a', 'b', 'c']
      const outcomes = await Promise.all(texts.map((text) => reg.call(`${source}.echo`, { text })))
      expect(outcomes).toMatchObject(texts.map((text) => ({ ok: true, result: { text } })))
    }
  })

  test('with broken tools in its list keeps the others', async () => {
    const reg = await open({ half: server('lists-broken-tools.mjs') })
    expect(reg.list().map(({ id }) => id)).toEqual(['half.echo', 'half.bare'])
    expect(reg.problems().map(({ message }) => message)).toEqual([
      expect.stringContaining('entry 3'),
      expect.stringContaining("'list' of MCP server 'half' is no tool"),
      expect.stringContaining('entry 5'),
    ])
    expect(await reg.call('bare', {})).toMatchObject({ ok: true, result: {} })
  })

  test('with 100 MB in one answer is ended and told, and is there again for the next call', async () => {
    const reg = await open({ much: server('answers-too-much.mjs') })
    const before = process.memoryUsage().rss
    expect(await reg.call('much.echo', { text: 'much' })).toMatchObject({
      ok: false,
      error: { code: 'OUTPUT_LIMIT', message: expect.stringContaining('16 MiB') },
    })
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024)
    expect(await reg.call('much.echo', { text: 'little' })).toMatchObject({ ok: true })
  })

  test('that dies again and again is left alone for a while', async () => {
    const reg = await open({ dies: server('dies-at-a-call.mjs') })
    const messages: string[] = []
    for (let count = 0; count < 8 && !messages.at(-1)?.includes('in a row'); count += 1) {
      const outcome = await reg.call('dies.echo', { text: 'die' })
      if (!outcome.ok) messages.push(outcome.error.message)
    }
    expect(messages.at(-1)).toMatch(/failed \d times in a row; it is started again in \d+ seconds/)
    await reg.rescan()
    expect(await reg.call('dies.echo', { text: 'live' })).toMatchObject({ ok: true })
  })

  test('and changes its tools: the registry looks again, and a call of what is gone says so', async () => {
    const reg = await open({ moody: server('changes-its-tools.mjs') })
    const changed = new Promise((resolve) => reg.onChange(() => resolve(undefined)))
    expect(await reg.call('echo', { text: 'change' })).toMatchObject({ ok: true })
    await changed
    expect(reg.list().map(({ name }) => name)).toEqual(['echo', 'come'])
    expect(await reg.call('come', { text: 'quietly' })).toMatchObject({ ok: true })
    expect(await reg.call('come', { text: '' })).toMatchObject({
      ok: false,
      error: { code: 'NOT_FOUND', message: "MCP server 'moody' has no tool 'come' any more" },
    })
    await expect.poll(() => reg.list().map(({ name }) => name)).toEqual(['echo'])
  })

  test('and lies about its results is named', async () => {
    const reg = await open({ liar: server('lies-about-results.mjs') })
    const call = (name: string): Promise<unknown> => reg.call(`liar.${name}`, { text: '' })
    expect(await call('right')).toMatchObject({
      ok: true,
      result: { total: 3 },
      content: [{ type: 'text', text: 'three things' }],
    })
    expect(await call('wrong')).toMatchObject({
      ok: false,
      error: {
        code: 'DEPENDENCY',
        retryable: false,
        message: expect.stringMatching(/^MCP server 'liar' answered 'wrong'.*total/),
      },
    })
    expect(await call('none')).toMatchObject({
      ok: false,
      error: { code: 'DEPENDENCY', message: expect.stringContaining("MCP server 'liar'") },
    })
    expect(await call('odd')).toMatchObject({
      ok: false,
      error: {
        code: 'DEPENDENCY',
        retryable: false,
        message: expect.stringContaining("MCP server 'liar'"),
      },
    })
  })
})

describe('[6.mcp-questions] what a server may ask', () => {
  test('is what somebody can answer, also of a server that ends at requests it does not know', async () => {
    const alone = await open({ python: server('ends_at_unknown_requests.py') })
    expect(await alone.call('capabilities')).toMatchObject({ ok: true, result: {} })
    const reg = await open(
      { python: server('ends_at_unknown_requests.py', { roots: ['/srv'] }) },
      { answer: () => ({ name: 'Ada' }) },
    )
    expect(await reg.call('capabilities')).toMatchObject({
      ok: true,
      result: { elicitation: expect.any(Object), roots: {} },
    })
    expect(await reg.call('ask', { what: 'roots/list' })).toMatchObject({
      ok: true,
      result: { roots: [{ uri: 'file:///srv' }] },
    })
    expect(await reg.call('ask', { what: 'elicitation/create' })).toMatchObject({
      ok: true,
      result: { action: 'accept', content: { name: 'Ada' } },
    })
    expect(
      await reg.call(
        'ask',
        { what: 'elicitation/create' },
        {
          answer: () => {
            throw new Error('gone home')
          },
        },
      ),
    ).toMatchObject({ ok: false, error: { message: expect.stringContaining('gone home') } })
  })
})

describe('[6.servers-leave-nothing] nothing is left', () => {
  test('of a server that ignores the end of its input and SIGTERM, nor of its children', async () => {
    const reg = await open({ stays: server('ignores-the-end.mjs') })
    const { result } = (await reg.call('pids', {})) as {
      readonly result: { readonly pids: readonly number[] }
    }
    expect(result.pids.filter(isAlive)).toHaveLength(3)
    await reg.close()
    await untilGone(result.pids)
  })

  test('when the host is killed', async () => {
    const file = join(makeFolder(), 'pid')
    const host = startProgram('servers/host.mjs', [fixture('servers/answers-plainly.mjs'), file], {
      input: 'open',
    })
    await host.said('ready')
    const pid = Number(readFileSync(file, 'utf8'))
    expect(isAlive(pid)).toBe(true)
    host.kill('SIGKILL')
    await host.ended
    await expect.poll(() => isAlive(pid)).toBe(false)
  })

  test('and a host that forgets to close its registry ends all the same', async () => {
    const { status, stdout } = await startProgram('servers/host.mjs', [
      fixture('servers/answers-plainly.mjs'),
      join(makeFolder(), 'pid'),
      'leave',
    ]).ended
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'ready\n' })
  })

  test('after everything above', async () => {
    await closeAll()
    expect(childrenWith('fixtures/servers/')).toEqual([])
  })
})
