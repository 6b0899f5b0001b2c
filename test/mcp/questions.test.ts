import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { makeFolder } from '../support/run-program.ts'
import { initialize, modern, openRaw } from './support/raw-stdio.ts'
import type { Message } from './support/raw-stdio.ts'
import { until } from './support/until.ts'

const marker = join(makeFolder(), 'm')
const raw = openRaw('asks-and-leaves.mjs', [], { env: { MARKER: marker } })
afterAll(() => raw.end())

const able = { elicitation: {} }
const accept = (answer: unknown) => ({ action: 'accept', content: { answer } })
const call = (name: string, params: object = {}, capabilities: object = able, meta: object = {}) =>
  raw.ask('tools/call', modern({ name, arguments: {}, ...params }, capabilities, meta))
const goOn = (
  name: string,
  { result }: Message,
  inputResponses: object,
  capabilities: object = able,
  meta: object = {},
) => call(name, { requestState: result.requestState, inputResponses }, capabilities, meta)

describe('questions to a modern client [5.mcp-rounds]', () => {
  test('a later round speaks with the token and the log level of its own request', async () => {
    const asked = await call('talker', {}, able, {
      progressToken: 'one',
      'io.modelcontextprotocol/logLevel': 'info',
    })
    const end = await goOn('talker', asked, { name: accept('Ann') }, able, { progressToken: 'two' })
    expect(end.result.content).toEqual([{ type: 'text', text: 'Hello, Ann' }])
    const progress = raw.messages
      .filter(({ method }) => method === 'notifications/progress')
      .map(({ params }) => [params.progressToken, params.message])
    expect(progress).toEqual([
      ['one', 'before'],
      ['two', 'after'],
    ])
    expect(
      raw.messages
        .filter(({ method }) => method === 'notifications/message')
        .map(({ params }) => params.data),
    ).toEqual(['before'])
  })

  test('questions asked at once travel together, and what is answered is not asked again', async () => {
    const asked = await call('both', {}, { ...able, sampling: {} })
    expect(Object.keys(asked.result.inputRequests)).toEqual(['first', 'second'])
    const second = await goOn(
      'both',
      asked,
      { first: accept('1'), stranger: 7 },
      { ...able, sampling: {} },
    )
    expect(Object.keys(second.result.inputRequests)).toEqual(['second'])
    expect(second.result.requestState).not.toBe(asked.result.requestState)
    const third = await goOn('both', second, { second: accept('2') }, { ...able, sampling: {} })
    expect(third.result.inputRequests).toMatchObject({
      poem: { method: 'sampling/createMessage', params: { maxTokens: expect.any(Number) } },
    })
    const end = await goOn(
      'both',
      third,
      { poem: { role: 'assistant', model: 'm', content: { type: 'text', text: 'Roses' } } },
      { ...able, sampling: {} },
    )
    expect(end.result.structuredContent).toEqual({ first: '1', second: '2', poem: 'Roses' })
  })

  test('a client that declares less in a later round is not asked what it cannot answer', async () => {
    const asked = await call('both', {}, { ...able, sampling: {} })
    const end = await goOn('both', asked, { first: accept('1'), second: accept('2') }, able)
    expect(end.result.structuredContent).toEqual({
      first: '1',
      second: '2',
      poem: 'ANSWER_REQUIRED',
    })
  })

  test.each<[what: string, answer: unknown]>([
    ['a number', 12],
    ['no action', { content: {} }],
    ['an unknown action', { action: 'maybe' }],
  ])('an answer that is %s is refused, and the state stays good', async (_what, answer) => {
    const asked = await call('talker')
    expect((await goOn('talker', asked, { name: answer as object })).error).toMatchObject({
      code: -32602,
    })
    expect((await goOn('talker', asked, { name: accept('Ann') })).result.content).toMatchObject([
      { text: 'Hello, Ann' },
    ])
  })

  test('inputResponses that are no object are refused', async () => {
    const asked = await call('talker')
    expect((await goOn('talker', asked, ['x'])).error).toMatchObject({ code: -32602 })
  })

  test.each(['decline', 'cancel'])('%s is the failure of the tool, in words', async (action) => {
    const end = await goOn('talker', await call('talker'), { name: { action } })
    expect(JSON.parse(end.result.content[0].text)).toMatchObject({ error: { code: 'PERMISSION' } })
  })

  test('a question that waits only so long takes its default, and the client that comes late gets the result', async () => {
    const asked = await call('patient')
    expect(asked.result.resultType).toBe('input_required')
    await new Promise((resolve) => setTimeout(resolve, 500))
    const late = await goOn('patient', asked, {
      [Object.keys(asked.result.inputRequests)[0]!]: accept('quick'),
    })
    expect(late.result.structuredContent).toEqual({ answer: 'too late' })
  })

  test('prompts and resources ask too, each state only good for its own', async () => {
    const prompted = await raw.ask('prompts/get', modern({ name: 'asking' }, able))
    const read = await raw.ask('resources/read', modern({ uri: 'asking://it' }, able))
    const answers = { inputResponses: { it: accept('tea') } }
    expect(
      (
        await raw.ask(
          'resources/read',
          modern(
            { uri: 'asking://it', requestState: prompted.result.requestState, ...answers },
            able,
          ),
        )
      ).error,
    ).toMatchObject({ code: -32602, message: expect.stringContaining('another request') })
    expect(
      (
        await raw.ask(
          'prompts/get',
          modern({ name: 'asking', requestState: prompted.result.requestState, ...answers }, able),
        )
      ).result.messages,
    ).toEqual([{ role: 'user', content: { type: 'text', text: 'It is tea' } }])
    expect(
      (
        await raw.ask(
          'resources/read',
          modern({ uri: 'asking://it', requestState: read.result.requestState, ...answers }, able),
        )
      ).result,
    ).toMatchObject({ contents: [{ text: 'It is tea' }], cacheScope: 'private' })
  })

  test('a session tool takes its turns as questions', async () => {
    const who = await call('chat')
    expect(JSON.stringify(who.result.inputRequests)).toContain('Who are you?')
    const what = await goOn('chat', who, {
      [Object.keys(who.result.inputRequests)[0]!]: accept('Ann'),
    })
    expect(JSON.stringify(what.result.inputRequests)).toContain('what do you want, Ann?')
    const end = await goOn('chat', what, {
      [Object.keys(what.result.inputRequests)[0]!]: accept('tea'),
    })
    expect(end.result.structuredContent).toEqual({ name: 'Ann', wish: 'tea' })
  })

  test.each<[what: string, capabilities: object]>([
    ['nothing', {}],
    ['addresses only', { elicitation: { url: {} } }],
  ])(
    'with a client that can show %s, a default answers, and the rest names the command line',
    async (_what, capabilities) => {
      expect((await call('by_default', {}, capabilities)).result.structuredContent).toEqual({
        color: 'blue',
      })
      for (const [name, form] of [
        ['talker', 'asks-and-leaves talker'],
        ['chat', 'asks-and-leaves chat --session'],
      ] as const) {
        expect((await call(name, {}, capabilities)).error).toMatchObject({
          code: -32021,
          message: expect.stringContaining(form),
          data: { requiredCapabilities: { elicitation: {} } },
        })
      }
    },
  )

  test('a form holds only what the protocol knows, and the answer is checked by the whole schema', async () => {
    const asked = await call('form')
    expect(asked.result.inputRequests.form.params.requestedSchema).toEqual({
      type: 'object',
      properties: {
        id: { type: 'string' },
        mail: { type: 'string', maxLength: 40, format: 'email' },
        size: { type: 'integer', maximum: 9, default: 3 },
        tags: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
      },
      required: ['id'],
    })
    const again = await goOn('form', asked, {
      form: { action: 'accept', content: { id: 'NOT HEX' } },
    })
    expect(again.result.resultType).toBe('input_required')
    expect(JSON.stringify(again.result.inputRequests)).toContain('last answer')
  })

  test('an accepted form without an answer is no consent to destroy', async () => {
    const asked = await call('erase')
    const key = Object.keys(asked.result.inputRequests)[0]!
    const end = await goOn('erase', asked, { [key]: { action: 'accept', content: {} } })
    expect(JSON.parse(end.result.content[0].text)).toMatchObject({ error: { code: 'PERMISSION' } })
  })

  test('a log level that is none is refused', async () => {
    expect(
      (await call('talker', {}, able, { 'io.modelcontextprotocol/logLevel': 'loud' })).error,
    ).toMatchObject({ code: -32602 })
  })
})

describe('questions to an older client [5.mcp-both-eras]', () => {
  test('are requests, and are taken back when nobody waits for the answer any more', async () => {
    const old = openRaw('asks-and-leaves.mjs')
    await initialize(old, able)
    expect(
      (await old.ask('tools/call', { name: 'patient', arguments: {} }, 'p')).result
        .structuredContent,
    ).toEqual({ answer: 'too late' })
    const asked = old.messages.find(({ method }) => method === 'elicitation/create')!
    const taken = await old.heard(({ method }) => method === 'notifications/cancelled')
    expect(taken.params.requestId).toBe(asked.id)
    // An answer that nobody waits for is ignored.
    old.write(JSON.stringify({ jsonrpc: '2.0', id: asked.id, result: accept('late') }))
    old.write('{"jsonrpc":"2.0","id":"ask-99","result":{}}')
    expect((await old.ask('ping')).result).toEqual({})
    await old.end()
  })

  test('a client that refuses the question fails the tool in words', async () => {
    const old = openRaw('asks-and-leaves.mjs')
    await initialize(old, able)
    const talking = old.ask('tools/call', { name: 'talker', arguments: {} }, 't')
    const { id } = await old.heard(({ method }) => method === 'elicitation/create')
    old.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -1, message: 'no user here' } }))
    expect(JSON.parse((await talking).result.content[0].text)).toMatchObject({
      error: { code: 'DEPENDENCY', message: expect.stringContaining('no user here') },
    })
    await old.end()
  })

  test('--confirm always asks in both generations and fails with clients that cannot ask [4.confirm-mcp]', async () => {
    const strict = openRaw('asks-and-leaves.mjs', ['--confirm', 'always'])
    expect(
      JSON.parse(
        (await strict.ask('tools/call', modern({ name: 'erase', arguments: {} }))).result.content[0]
          .text,
      ),
    ).toMatchObject({ error: { code: 'CONFIRMATION_REQUIRED' } })
    expect(
      (await strict.ask('tools/call', modern({ name: 'erase', arguments: {} }, able))).result
        .resultType,
    ).toBe('input_required')
    await initialize(strict, able)
    const erasing = strict.ask('tools/call', { name: 'erase', arguments: {} }, 'e')
    const { id } = await strict.heard(({ method }) => method === 'elicitation/create')
    strict.write(JSON.stringify({ jsonrpc: '2.0', id, result: accept(true) }))
    expect((await erasing).result.structuredContent).toEqual({ erased: true })
    await strict.end()
  })
})

test('a call whose client never answers is ended with the server, and nothing keeps the process [5.mcp-drain]', async () => {
  const left = join(makeFolder(), 'left')
  const own = openRaw('asks-and-leaves.mjs', [], { env: { MARKER: left } })
  expect(
    (await own.ask('tools/call', modern({ name: 'stubborn', arguments: {} }, able))).result
      .resultType,
  ).toBe('input_required')
  expect((await own.end()).status).toBe(0)
  await until(() => existsSync(`${left}.aborted`))
})
