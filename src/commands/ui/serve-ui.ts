import type { BuiltinContext } from '../../surfaces/builtin/builtin.ts'
import { findCaller } from '../../surfaces/cli/caller.ts'
import { choosePresentation } from '../../surfaces/cli/mode.ts'
import { toJsonText } from '../../surfaces/cli/output/json-text.ts'
import { printsEnvelope } from '../../surfaces/cli/output/print.ts'
import { notificationLine, notificationText } from '../../surfaces/cli/progress/notify.ts'
import { servingProcess } from '../../surfaces/cli/serving.ts'
import { redirectStrayOutput } from '../../surfaces/cli/stray-output.ts'
import { listen } from '../../surfaces/http/node/server.ts'
import { loadAssets } from '../../views/server/assets/load-assets.ts'
import { createDashboardApp } from '../../views/server/create-dashboard-app.ts'
import { SAFE_HEADERS } from '../../views/server/door/headers.ts'
import { createSession } from '../../views/server/door/session.ts'
import { findFile } from '../config/find-file.ts'
import type { Surroundings } from '../config/load.ts'
import { surroundingsOf } from '../run/surroundings.ts'
import { openBackend } from './open-backend.ts'
import { openBrowser } from './open-browser.ts'
import { openProject } from './open-project.ts'
import { findPageFolder } from './page-folder.ts'
import { readToken } from './read-token.ts'

type UiInput = Surroundings & {
  readonly port: number
  readonly readOnly?: boolean
  readonly open?: boolean
  readonly tokenFile?: string
}

/** The address, never a name: a name may lead elsewhere. */
const ADDRESS = '127.0.0.1'
/** Milliseconds that requests get to end when the server stops; streams end at once. */
const GRACE_MS = 1_000
/** Milliseconds that a client may take to send its request: it is on this machine. */
const REQUEST_MS = 10_000

/** Serves the dashboard until the process is told to stop; gives the exit status. */
export async function serveUi(
  input: UiInput,
  { io, host: process, globals, set }: BuiltinContext,
): Promise<number> {
  const { readOnly = false, tokenFile } = input
  const json = printsEnvelope(
    choosePresentation(globals, io, findCaller(io.env), {}, set.options.defaultOutput).mode,
  )
  const tell = (level: 'warn' | 'error', message: string): void => {
    const event = { type: 'log', level, message } as const
    io.stderr.write(`${json ? notificationLine(event) : notificationText(event)}\n`)
  }
  // A file that was named has to be there; what is wrong inside it is shown by the page.
  findFile(io.cwd, input.config)
  const project = openProject({
    cwd: io.cwd,
    env: io.env,
    now: io.now,
    surroundings: surroundingsOf(input),
    started: process.started,
  })
  const assets = loadAssets(findPageFolder())
  const token = readToken(project.runsFolder, { cwd: io.cwd, tokenFile, readOnly })
  process.prepareForTools(redirectStrayOutput, servingProcess(io, json, GRACE_MS))
  const backend = openBackend(project, { version: set.version, readOnly })
  let port = 0
  try {
    const session = createSession(token, () => port, io.now)
    const app = createDashboardApp(backend, {
      session,
      port: () => port,
      readOnly,
      assets,
      now: io.now,
      signal: process.signal,
      onFailure: (error) => tell('error', `a request failed: ${error.stack ?? error.message}`),
    })
    const server = await listen(app, {
      host: ADDRESS,
      port: input.port,
      grace: GRACE_MS,
      requestTimeout: REQUEST_MS,
      signal: process.signal,
      headers: SAFE_HEADERS,
    })
    port = server.port
    const addressWith = (word: string): string => `${server.url}/?token=${encodeURIComponent(word)}`
    const url = addressWith(token)
    io.stderr.write(
      json
        ? `${toJsonText({ type: 'notification', kind: 'listening', url })}\n`
        : `dashboard on ${url}\n`,
    )
    if (input.open) {
      const problem = await openBrowser(addressWith(session.invite()), io)
      if (problem)
        tell('warn', `no browser could be started (${problem.message}); open the address yourself`)
    }
    await server.closed
  } finally {
    await backend.close()
  }
  await io.stderr.flush()
  return 0
}
