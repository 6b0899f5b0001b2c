import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  clientsFolder,
  newerNode,
  plainEnvironment,
} from '../../scripts/conformance/newer-node.mjs'
import { fixture, makeFolder } from '../support/run-program.ts'
import { serveHttp } from './support/serve.ts'
import type { HttpServer } from './support/serve.ts'
import '../support/without-coverage.ts'

type Run = { readonly status: number; readonly stdout: string; readonly stderr: string }

const server = [process.execPath, fixture('workshop.mjs'), '--serve-mcp', 'stdio']
let http: HttpServer
beforeAll(async () => void (http = await serveHttp('workshop.mjs')))
afterAll(() => http?.stop())

/** Runs a command of one of the installed packages on a node that is new enough for it. */
function runClient(program: string, args: readonly string[]): Promise<Run> {
  const home = makeFolder()
  return new Promise((resolve) => {
    execFile(
      newerNode,
      [join(clientsFolder, 'node_modules', program), ...args],
      { env: plainEnvironment({ HOME: home, TMPDIR: home }), cwd: home, timeout: 60_000 },
      (error, stdout, stderr) => {
        resolve({ status: error ? Number(error.code ?? 1) : 0, stdout, stderr })
      },
    )
  })
}

const inspect = (transport: string, era: string, ...args: readonly string[]): Promise<Run> =>
  runClient('@modelcontextprotocol/inspector/clients/launcher/build/index.js', [
    '--cli',
    ...(transport === 'http' ? [http.url] : server),
    '--protocol-era',
    era,
    ...args,
  ])
const port = (transport: string, command: string, ...args: readonly string[]): Promise<Run> =>
  runClient('mcporter/dist/cli.js', [
    command,
    ...(transport === 'http'
      ? ['--http-url', http.url, '--allow-http']
      : ['--stdio', server.map((word) => `"${word}"`).join(' ')]),
    '--name',
    'workshop',
    ...args,
  ])

describe.concurrent.each([
  ['stdio', 'legacy'],
  ['stdio', 'modern'],
  ['http', 'legacy'],
  ['http', 'modern'],
])('the inspector over %s, %s protocol [5.mcp-clients]', (transport, era) => {
  test('lists tools whose schemas every client can take', async () => {
    const { status, stdout, stderr } = await inspect(
      transport,
      era,
      '--method',
      'tools/list',
      '--strict',
    )
    expect({ status, stderr }).toMatchObject({ status: 0 })
    expect(JSON.parse(stdout).tools).toHaveLength(10)
  })

  test('calls a tool', async () => {
    const { status, stdout } = await inspect(
      transport,
      era,
      '--method',
      'tools/call',
      '--tool-name',
      'add',
      '--tool-arg',
      'a=2',
      'b=3',
    )
    expect(status).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ structuredContent: { sum: 5 } })
  })

  test('shows the error of a tool', async () => {
    const { status, stdout, stderr } = await inspect(
      transport,
      era,
      '--method',
      'tools/call',
      '--tool-name',
      'divide',
      '--tool-arg',
      'a=1',
      'b=0',
    )
    expect(status).toBe(5)
    expect(stdout + stderr).toContain('E_DIVIDE')
  })

  test('reads a resource and renders a prompt', async () => {
    const [read, prompt] = await Promise.all([
      inspect(transport, era, '--method', 'resources/read', '--uri', 'notes://later'),
      inspect(
        transport,
        era,
        '--method',
        'prompts/get',
        '--prompt-name',
        'review',
        '--prompt-args',
        'file=a.ts',
      ),
    ])
    expect(read.stdout).toContain('Read a book')
    expect(prompt.stdout).toContain('Review a.ts in a kind way.')
  })
})

describe.concurrent.each(['stdio', 'http'])('mcporter over %s [5.mcp-clients]', (transport) => {
  test('lists the tools', async () => {
    const { status, stdout } = await port(transport, 'list')
    expect(status).toBe(0)
    expect(stdout).toContain('Add two numbers')
  })

  test('calls a tool', async () => {
    const { status, stdout } = await port(
      transport,
      'call',
      'add',
      'a=2',
      'b=3',
      '--output',
      'json',
    )
    expect(status).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ sum: 5 })
  })

  test('shows the error of a tool', async () => {
    const { status, stdout, stderr } = await port(transport, 'call', 'divide', 'a=1', 'b=0')
    expect(status).not.toBe(0)
    expect(stdout + stderr).toContain('E_DIVIDE')
  })
})
