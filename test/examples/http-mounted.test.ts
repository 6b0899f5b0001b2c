import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { post, readEvents } from '../http/support/doors.ts'

describe.each(['with-hono', 'with-express', 'with-node'])(
  '[10.http-mounted] the handler %s',
  (name) => {
    let server: ChildProcess
    let url = ''
    beforeAll(async () => {
      server = spawn(
        process.execPath,
        [fileURLToPath(new URL(`../../examples/http-mounted/${name}.mjs`, import.meta.url))],
        { env: { PATH: process.env['PATH'], PORT: '0' }, stdio: ['ignore', 'pipe', 'inherit'] },
      )
      url = await new Promise<string>((resolve, reject) => {
        server.stdout!.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()))
        server.once('exit', (status) => reject(new Error(`${name} ended with ${status}`)))
      })
    })
    afterAll(() => {
      server.kill()
    })

    test('answers below its mount point', async () => {
      expect(
        await (await fetch(`${url}/api/tools/add-note`, post({ text: 'größer' }))).json(),
      ).toMatchObject({ ok: true, result: { text: 'größer' } })
      expect((await fetch(`${url}/api/tools/read_note`, post({ id: 77 }))).status).toBe(404)
      expect((await fetch(`${url}/api/tools/add_note`, post({}))).status).toBe(400)
      expect((await fetch(`${url}/tools/add_note`, post({ text: 'a' }))).status).toBe(404)
    })

    test('refuses, streams and describes like everywhere', async () => {
      expect((await fetch(`${url}/api/tools/forget_all`, post({}))).status).toBe(403)
      expect(
        (await fetch(`${url}/api/tools/forget_all`, post({}, { 'toolable-confirm': 'yes' })))
          .status,
      ).toBe(200)
      expect(
        (
          await fetch(`${url}/api/tools/add_note`, {
            ...post({ text: 'a' }),
            headers: { 'content-type': 'text/plain' },
          })
        ).status,
      ).toBe(415)
      expect(
        (
          await readEvents(
            await fetch(`${url}/api/tools/count_down?stream=true`, post({ from: 3 })),
          )
        ).map(({ event }) => event),
      ).toEqual(['progress', 'progress', 'progress', 'result'])
      expect(await (await fetch(`${url}/api/openapi.json`)).json()).toMatchObject({
        openapi: '3.1.1',
        paths: { '/tools/add_note': {} },
      })
      expect(
        (await fetch(`${url}/api/tools`, { headers: { origin: 'https://evil.example' } })).status,
      ).toBe(403)
      expect(
        await (
          await fetch(
            `${url}/api/mcp`,
            post(
              { jsonrpc: '2.0', id: 1, method: 'ping' },
              { accept: 'application/json, text/event-stream' },
            ),
          )
        ).text(),
      ).toContain('jsonrpc')
    })

    test('leaves the rest of the site alone', async () => {
      const answer = await fetch(`${url}/`)
      expect([answer.status, name === 'with-node' ? '' : await answer.text()]).toEqual(
        name === 'with-node' ? [404, ''] : [200, 'the site'],
      )
    })
  },
)
