import express from 'express'
import type { Express } from 'express'
import { afterAll, describe, expect, test } from 'vitest'
import { createHandler, toNode } from 'toolable'
import { loadSet, post, serveNode } from './support/doors.ts'

const set = await loadSet()

async function serve(
  build: (app: Express) => void,
): Promise<(path: string, init?: RequestInit) => Promise<Response>> {
  const app = express()
  build(app)
  const { port, close } = await serveNode(app)
  afterAll(close)
  return (path, init) => fetch(`http://localhost:${port}${path}`, init)
}

describe('[10.http-mounted] Express', () => {
  test.each([
    ['nothing', () => undefined],
    ['express.json()', (app: Express) => app.use(express.json())],
    ['express.text()', (app: Express) => app.use(express.text({ type: 'application/json' }))],
    ['express.raw()', (app: Express) => app.use(express.raw({ type: 'application/json' }))],
    ['a parser for other types', (app: Express) => app.use(express.urlencoded())],
  ] as [string, (app: Express) => void][])('works behind %s', async (_what, before) => {
    const send = await serve((app) => {
      before(app)
      app.use('/api', toNode(createHandler(set)))
    })
    expect(await (await send('/api/tools/say_it', post({ text: 'größer' }))).json()).toMatchObject({
      result: { said: 'größer' },
    })
    expect(await (await send('/api/tools/who', post({}))).json()).toMatchObject({ ok: true })
    expect((await send('/api/tools')).status).toBe(200)
  })

  test('the limit holds for a body that was read before, too', async () => {
    const send = await serve((app) => {
      app.use(express.json())
      app.use(toNode(createHandler(set, { bodyLimit: 50 })))
    })
    expect((await send('/tools/say_it', post({ text: 'a'.repeat(100) }))).status).toBe(413)
  })

  test('a body that somebody took is told', async () => {
    const send = await serve((app) => {
      app.use((request, _response, next) => {
        request.resume().on('end', next)
      })
      app.use(toNode(createHandler(set)))
    })
    const answer = await send('/tools/say_it', post({ text: 'a' }))
    expect([answer.status, await answer.json()]).toEqual([
      400,
      expect.objectContaining({
        error: expect.objectContaining({
          message: expect.stringContaining('did not leave it in req.body'),
        }),
      }),
    ])
  })

  test('a base path counts from the root, and what is outside goes on', async () => {
    const send = await serve((app) => {
      app.use(toNode(createHandler(set, { basePath: '/api' })))
      app.get('/', (_request, response) => {
        response.send('the site')
      })
    })
    expect((await send('/api/tools/say_it', post({ text: 'a' }))).status).toBe(200)
    expect(await (await send('/')).text()).toBe('the site')
    const mounted = await serve((app) => {
      app.use('/api', toNode(createHandler(set, { basePath: '/api' })))
    })
    expect((await mounted('/api/tools/say_it', post({ text: 'a' }))).status).toBe(200)
  })

  test('an error of a foreign handler goes to Express', async () => {
    const send = await serve((app) => {
      app.use(toNode(() => Promise.reject(new Error('broken'))))
      app.use(
        (
          error: Error,
          _request: express.Request,
          response: express.Response,
          _next: express.NextFunction,
        ) => {
          response.status(418).send(error.message)
        },
      )
    })
    const answer = await send('/')
    expect([answer.status, await answer.text()]).toEqual([418, 'broken'])
  })

  test('a foreign handler keeps its cookies, its body and its parsed input', async () => {
    const send = await serve((app) => {
      app.use('/parsed', express.json())
      app.use(
        toNode(async (request) => {
          const headers = new Headers([
            ['set-cookie', 'a=1'],
            ['set-cookie', 'b=2'],
          ])
          return new Response(
            `${request.method} ${new URL(request.url).pathname} ${await request.text()}`,
            { status: 201, headers },
          )
        }),
      )
    })
    const plain = await send('/plain', post({ a: 1 }))
    expect([plain.status, plain.headers.getSetCookie(), await plain.text()]).toEqual([
      201,
      ['a=1', 'b=2'],
      'POST /plain {"a":1}',
    ])
    expect(await (await send('/parsed', post({ a: 1 }))).text()).toBe('POST /parsed {"a":1}')
  })
})
