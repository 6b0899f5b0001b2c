import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeSampleFolder } from '../../scripts/sample-folder.mjs'
import { makeFolder } from '../support/run-program.ts'
import { aiSdk, sdk } from './clients/drivers.mjs'
import type { Connect, ConnectOptions, Session, Target } from './clients/drivers.mjs'
import { serveHttp } from './support/serve.ts'
import type { HttpServer } from './support/serve.ts'
import { stdioTarget } from './support/target.ts'
import { until } from './support/until.ts'

const MODERN = '2026-07-28'
const LEGACY = '2025-11-25'
const fileTools = fileURLToPath(
  new URL('../../examples/file-tools/file-tools.mjs', import.meta.url),
)
const open: Session[] = []
let server: HttpServer

beforeAll(async () => void (server = await serveHttp('workshop.mjs')))
afterAll(async () => {
  await Promise.all(open.map((session) => session.close()))
  await server?.stop()
})

const transports: { readonly [name: string]: () => Target } = {
  stdio: () => stdioTarget('workshop.mjs'),
  http: () => ({ url: server.url }),
}
const clients: readonly (readonly [
  name: string,
  connect: Connect,
  version: string,
  abilities: readonly string[],
])[] = [
  ['SDK, older protocol', sdk('legacy'), LEGACY, ['progress', 'sampling', 'cancel', 'news']],
  ['SDK, newer protocol', sdk({ pin: MODERN }), MODERN, ['progress', 'sampling', 'cancel']],
  ['SDK, its own choice', sdk('auto'), MODERN, ['progress', 'sampling', 'cancel']],
  ['AI SDK', aiSdk, MODERN, []],
]
const rows = Object.keys(transports).flatMap((transport) =>
  clients.map(
    ([name, connect, version, abilities]) =>
      [name, transport, connect, version, abilities] as const,
  ),
)

async function connectTo(
  connect: Connect,
  transport: string,
  options?: ConnectOptions,
): Promise<Session> {
  const session = await connect(transports[transport]!(), options)
  open.push(session)
  return session
}

describe.each(rows)(
  '%s over %s [5.serve-mcp] [5.mcp-clients]',
  (_name, transport, connect, version, abilities) => {
    let session: Session
    beforeAll(async () => void (session = await connectTo(connect, transport)))

    test('agrees on a version and lists the tools as they were defined', async () => {
      expect(session.version).toBe(version)
      const tools = await session.list()
      expect(tools.map(({ name }) => name)).toEqual([
        'add',
        'divide',
        'count',
        'wait',
        'order',
        'compose',
        'places',
        'erase',
        'list',
        'change',
      ])
      expect(tools[0]).toMatchObject({
        title: 'Adding machine',
        description: 'Add two numbers',
        inputSchema: { type: 'object', required: ['a', 'b'] },
        outputSchema: { type: 'object' },
        annotations: { readOnlyHint: true, idempotentHint: true },
      })
    })

    test('calls a tool and gets its result as text and as a value', async () => {
      const result = await session.call('add', { a: 2, b: 3 })
      expect(result).toMatchObject({
        structuredContent: { sum: 5 },
        content: [{ type: 'text', text: '{"sum":5}' }],
      })
      expect(result.isError ?? false).toBe(false)
    })

    test('gets a result that is a list', async () => {
      const { structuredContent, content } = await session.call('list')
      expect(structuredContent).toEqual(version === MODERN ? [1, 2, 3] : { result: [1, 2, 3] })
      expect(content).toMatchObject([{ text: '[1,2,3]' }])
    })

    test.each([
      [
        'a failure of the tool',
        'divide',
        { a: 1, b: 0 },
        {
          code: 'E_DIVIDE',
          category: 'input',
          message: 'cannot divide by zero',
          field: 'b',
          suggestion: { fix: 'Give another b', input: { a: 1, b: 1 } },
        },
      ],
      [
        'wrong arguments',
        'add',
        { a: 'two', b: 3 },
        { code: 'INVALID_INPUT', recoverable: true, field: 'a' },
      ],
      ['missing arguments', 'add', { a: 2 }, { code: 'MISSING_PARAM', field: 'b' }],
    ])('reads the whole error object of %s', async (_what, name, input, error) => {
      const result = await session.call(name, input)
      expect(result.isError).toBe(true)
      expect(JSON.parse(result.content[0]?.text ?? '')).toMatchObject({ error })
    })

    test('is told that there is no such tool', async () => {
      await expect(session.call('ad', {})).rejects.toThrow(
        "there is no tool 'ad'; did you mean 'add'?",
      )
    })

    test('lists and reads resources, and is told when there is none', async () => {
      expect((await session.resources()).map(({ uri }) => uri)).toEqual(
        expect.arrayContaining([
          'notes://today',
          'notes://later',
          'skill://manifest',
          'skill://documentation',
        ]),
      )
      expect(await session.templates()).toMatchObject([
        {
          uriTemplate: 'notes://{name}',
          name: 'note',
          description: 'One note',
          mimeType: 'text/plain',
        },
      ])
      expect(await session.read('notes://later')).toMatchObject([
        { uri: 'notes://later', mimeType: 'text/plain', text: 'Read a book' },
      ])
      await expect(session.read('notes://never')).rejects.toThrow("there is no note 'never'")
    })

    test('lists and renders prompts and completes their arguments', async () => {
      expect((await session.prompts()).filter(({ name }) => name === 'review')).toMatchObject([
        {
          name: 'review',
          description: 'Ask for a review',
          arguments: [
            { name: 'file', required: true },
            { name: 'tone', required: false },
          ],
        },
      ])
      expect(await session.prompt('review', { file: 'a.ts', tone: 'strict' })).toMatchObject([
        { role: 'user', content: { type: 'text', text: 'Review a.ts in a strict way.' } },
      ])
      await expect(session.prompt('review', {})).rejects.toThrow('file')
      expect(
        await session.complete(
          { type: 'ref/prompt', name: 'review' },
          { name: 'tone', value: 's' },
        ),
      ).toEqual(['strict'])
      expect(
        await session.complete(
          { type: 'ref/resource', uri: 'notes://{name}' },
          { name: 'name', value: 'l' },
        ),
      ).toEqual(['later'])
    })

    // The AI SDK says nothing on a pipe when its caller gives up.
    if (abilities.includes('cancel') || transport === 'http') {
      test('cancels a call, and the handler is aborted', async () => {
        const marker = join(makeFolder(), 'wait')
        const controller = new AbortController()
        const call = session.call('wait', { marker }, { signal: controller.signal })
        call.catch(() => undefined)
        await until(() => existsSync(`${marker}.started`))
        controller.abort()
        await expect(call).rejects.toThrow()
        await until(() => existsSync(`${marker}.aborted`))
        expect((await session.call('add', { a: 1, b: 1 })).structuredContent).toEqual({ sum: 2 })
      })
    }

    test('answers the questions of a tool', async () => {
      const asking = await connectTo(connect, transport, {
        answers: [
          accept({ answer: 'large' }),
          accept({ street: 'High Street', floor: 3 }),
          accept({ answer: true }),
        ],
      })
      expect((await asking.call('order')).structuredContent).toEqual({
        size: 'large',
        street: 'High Street',
        floor: 3,
        sure: true,
      })
      expect(asking.asked.map(({ message }) => message)).toEqual([
        'Which size?',
        'Where to?',
        'Really?',
      ])
      expect(asking.asked[1].requestedSchema).toMatchObject({
        type: 'object',
        properties: { street: { type: 'string' }, floor: { type: 'integer' } },
        required: ['street', 'floor'],
      })
    })

    test('declines a question, and the tool fails in words', async () => {
      const asking = await connectTo(connect, transport, { answers: [{ action: 'decline' }] })
      const result = await asking.call('order')
      expect(result.isError).toBe(true)
      expect(JSON.parse(result.content[0]?.text ?? '').error).toMatchObject({
        code: 'PERMISSION',
        message: expect.stringContaining('Which size?'),
      })
    })

    test('confirms a destructive tool [4.confirm-mcp]', async () => {
      const asking = await connectTo(connect, transport, {
        answers: [accept({ answer: true }), accept({ answer: false })],
      })
      expect((await asking.call('erase', { what: 'disk' })).structuredContent).toEqual({
        erased: 'disk',
      })
      const refused = await asking.call('erase', { what: 'disk' })
      expect(JSON.parse(refused.content[0]?.text ?? '').error).toMatchObject({ code: 'PERMISSION' })
    })

    if (abilities.includes('progress')) {
      test('hears of progress', async () => {
        const progress: { progress: number; total?: number; message?: string }[] = []
        expect((await session.call('count', { to: 4 }, { progress })).structuredContent).toEqual({
          counted: 4,
        })
        // Some clients deliver a notification after the result that it came before.
        await expect
          .poll(() => progress)
          .toMatchObject([
            { progress: 25, total: 100, message: 'counted 1' },
            { progress: 50 },
            { progress: 75 },
            { progress: 100 },
          ])
      })
    }

    if (abilities.includes('sampling')) {
      test('lends its model and its roots to a tool', async () => {
        expect((await session.call('compose')).structuredContent).toEqual({ poem: 'Roses are red' })
        expect(session.asked).toMatchObject([
          {
            messages: [{ role: 'user', content: { type: 'text', text: 'Write a poem' } }],
            systemPrompt: 'Be short',
            maxTokens: 20,
          },
        ])
        expect((await session.call('places')).content).toMatchObject([{ text: '["file:///work"]' }])
      })
    }

    if (abilities.includes('news')) {
      test('hears that lists and resources have changed', async () => {
        const listening = await connectTo(connect, transport)
        await listening.client.subscribeResource({ uri: 'notes://today' })
        await listening.call('change', { what: 'resource' })
        await until(() =>
          listening.heard.some(
            ({ method, params }) =>
              method === 'notifications/resources/updated' && params?.uri === 'notes://today',
          ),
        )
        if (transport === 'stdio') {
          await listening.call('change', { what: 'tools' })
          await until(() =>
            listening.heard.some(({ method }) => method === 'notifications/tools/list_changed'),
          )
          expect((await listening.list()).map(({ name }) => name)).toContain('brand_new')
        }
      })
    }
  },
)

test.each(['stdio', 'http'])(
  'the SDK subscribes to changes in the newer protocol over %s [5.mcp-clients]',
  async (transport) => {
    const session = await connectTo(sdk({ pin: MODERN }), transport)
    const subscription = await session.client.listen({
      promptsListChanged: true,
      resourceSubscriptions: ['notes://today'],
    })
    await session.call('change', { what: 'resource' })
    await until(() =>
      session.heard.some(
        ({ method, params }) =>
          method === 'notifications/resources/updated' && params?.uri === 'notes://today',
      ),
    )
    expect(session.heard.some(({ method }) => method === 'notifications/tools/list_changed')).toBe(
      false,
    )
    await subscription.close()
  },
)

test('a client without abilities gets an error that names what answers the question [5.mcp-clients]', async () => {
  const session = await connectTo(sdk('legacy'), 'stdio', { capabilities: [] })
  const result = await session.call('order')
  expect(JSON.parse(result.content[0]?.text ?? '').error).toMatchObject({
    code: 'ANSWER_REQUIRED',
    suggestion: { fix: expect.any(String) },
  })
  const modern = await connectTo(sdk({ pin: MODERN }), 'stdio', { capabilities: [] })
  await expect(modern.call('order')).rejects.toMatchObject({
    code: -32021,
    data: { requiredCapabilities: { elicitation: {} } },
  })
})

test('the tools of an example do their work for a client [5.mcp-clients]', async () => {
  const { folder, remove } = makeSampleFolder()
  const session = await sdk('auto')(
    { ...stdioTarget(fileTools), cwd: folder },
    { answers: [accept({ answer: true })] },
  )
  try {
    expect((await session.list()).map(({ name }) => name)).toEqual(
      expect.arrayContaining(['find_files', 'note_add']),
    )
    expect(
      (await session.call('find_files', { pattern: '*.tmp' })).structuredContent,
    ).toMatchObject([{ path: 'build.tmp' }, { path: 'old.tmp' }])
    expect((await session.call('delete_files', { pattern: '*.tmp' })).isError ?? false).toBe(false)
    expect(existsSync(join(folder, 'old.tmp'))).toBe(false)
    const missing = await session.call('read_file', { path: 'nowhere.md' })
    expect(JSON.parse(missing.content[0]?.text ?? '').error).toMatchObject({
      recoverable: true,
      message: expect.stringContaining('nowhere.md'),
    })
  } finally {
    await session.close()
    remove()
  }
})

function accept(content: object): object {
  return { action: 'accept', content }
}
