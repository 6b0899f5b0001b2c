import { startProgram } from '../../support/run-program.ts'
import { AS_LONG_AS_ITS_FILE } from '../../support/run-program.ts'
import type { Running } from '../../support/run-program.ts'
import { TOOLABLE } from '../../support/toolable-program.ts'

/** `toolable ui` in a process of its own. */
export type Dashboard = {
  /** The address with the token, as it was printed. */
  readonly url: string
  /** `http://127.0.0.1:<port>`. */
  readonly origin: string
  readonly token: string
  readonly port: number
  readonly running: Running
  /** A request of a program, with the token. */
  get(path: string): Promise<any>
  post(path: string, body?: unknown): Promise<any>
  /** SIGTERM; gives the exit status. */
  stop(): Promise<number | null>
  /** SIGKILL, and gone when it resolves. */
  kill(): Promise<void>
  /** Starts it again at the same address. */
  again(): Promise<void>
}

/** Starts the dashboard of a project; resolves when it listens. */
export async function startDashboard(
  folder: string,
  more: readonly string[] = [],
  env: { readonly [name: string]: string } = {},
): Promise<Dashboard> {
  const start = async (port: number): Promise<{ readonly running: Running; readonly url: URL }> => {
    const running = startProgram(TOOLABLE, ['ui', '--port', String(port), ...more], {
      cwd: folder,
      longest: AS_LONG_AS_ITS_FILE,
      env,
    })
    let said = ''
    running.child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
    await running.said('"listening"', 'stderr')
    const line = said.split('\n').find((one) => one.includes('"listening"'))!
    return { running, url: new URL((JSON.parse(line) as { readonly url: string }).url) }
  }
  let { running, url } = await start(0)
  const port = Number(url.port)
  const ask = async (path: string, init: RequestInit = {}): Promise<any> => {
    const response = await fetch(`${url.origin}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${url.searchParams.get('token')}`, ...init.headers },
    })
    const document: unknown = await response.json()
    if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(document)}`)
    return document
  }
  return {
    get url() {
      return url.href
    },
    get token() {
      return url.searchParams.get('token') ?? ''
    },
    get running() {
      return running
    },
    origin: url.origin,
    port,
    get: (path) => ask(path),
    post: (path, body = {}) =>
      ask(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    async stop() {
      running.kill('SIGTERM')
      return (await running.ended).status
    },
    async kill() {
      running.kill('SIGKILL')
      await running.ended
    },
    again: async () => void ({ running, url } = await start(port)),
  }
}
