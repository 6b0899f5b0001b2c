import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pathToFileURL } from 'node:url'
import { afterAll } from 'vitest'
import { createHandler, toNode } from 'toolable'
import type { HandlerOptions, Toolset } from 'toolable'
import { fixture } from '../../support/run-program.ts'

export type Send = (path: string, init?: RequestInit) => Promise<Response>

/** The toolset of a fixture, in this process. */
export async function loadSet(name = 'over-http.mjs'): Promise<Toolset> {
  return ((await import(pathToFileURL(fixture(name)).href)) as { default: Toolset }).default
}

/** Ways to reach one handler; each gives a function that sends a request below its mount point. */
export const DOORS: {
  readonly [name: string]: (set: Toolset, options?: HandlerOptions) => Promise<Send>
} = {
  'a fetch handler': async (set, options) => {
    const handler = createHandler(set, options)
    return (path, init) => handler(new Request(`http://localhost${path}`, init))
  },
  'node:http': async (set, options) => {
    const { port, close } = await serveNode(toNode(createHandler(set, options)))
    afterAll(close)
    return (path, init) => fetch(`http://localhost:${port}${path}`, init)
  },
  'node:http by Request and Response': async (set, options) => {
    const handler = createHandler(set, options)
    const { port, close } = await serveNode(toNode((request) => handler(request)))
    afterAll(close)
    return (path, init) => fetch(`http://localhost:${port}${path}`, init)
  },
}

/** Serves a listener on a free port of the loopback. */
export async function serveNode(
  listener: Parameters<typeof createServer>[1] & object,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** A call of a tool as JSON. */
export function post(
  input: unknown,
  headers: { readonly [name: string]: string } = {},
): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof input === 'string' ? input : JSON.stringify(input),
  }
}

/** The events of a stream, whole. */
export async function readEvents(
  response: Response,
): Promise<{ readonly event: string; readonly data: any }[]> {
  const text = await response.text()
  return text
    .split('\n\n')
    .filter((block) => block.startsWith('event: '))
    .map((block) => {
      const [event, data] = block.split('\n')
      return {
        event: event!.slice('event: '.length),
        data: JSON.parse(data!.slice('data: '.length)) as unknown,
      }
    })
}
