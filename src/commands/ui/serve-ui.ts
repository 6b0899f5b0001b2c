/**
 * `toolable ui`: serves the dashboard of a project.
 *
 * views/server is the HTTP app, views/runs its data about runs. This folder provides the rest of its Backend: project.ts is the project and its tools as they are now, actions.ts starts and changes runs, catalogue.ts lists tools and workflows.
 */

import { randomBytes } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { devNull } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { formatNotificationJson, formatNotificationText } from '../../cli/formats/envelope.ts'
import { toJsonText } from '../../cli/formats/json-text.ts'
import { isEnvelopeMode } from '../../cli/output.ts'
import { choosePresentation } from '../../cli/presentation.ts'
import { readSecretFile } from '../../cli/secrets.ts'
import { createServerLifecycle } from '../../cli/server.ts'
import { redirectStrayOutput } from '../../cli/stray-output.ts'
import type { BuiltinContext } from '../../cli/types.ts'
import { host } from '../../core/host.ts'
import { findProjectFolder } from '../../core/project.ts'
import { listenHttp } from '../../http/node-server.ts'
import { checkToken } from '../../http/options.ts'
import { spawnDetached } from '../../process/run.ts'
import { findSessionFile, withPlanFile } from '../../prompts/plan.ts'
import type { Io } from '../../protocol/io.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { ensureRunsFolder } from '../../runner/run-folder.ts'
import { findRunsFolder } from '../../runner/run-paths.ts'
import { createFileExclusively } from '../../util/lock-file.ts'
import type { ShownPlan } from '../../views/model/api.ts'
import { openRunsSource } from '../../views/runs/runs-source.ts'
import { createDashboardApp, loadAssets } from '../../views/server/app.ts'
import { createSession, SECURITY_HEADERS } from '../../views/server/auth.ts'
import type { DashboardBackend } from '../../views/server/backend.ts'
import type { RegistryFlags } from '../config.ts'
import { findConfigFile, pickRegistryFlags } from '../config.ts'
import { toChildEnvironment } from '../run/create-run.ts'
import { openActions } from './actions.ts'
import { openCatalogue } from './catalogue.ts'
import type { DashboardProject } from './project.ts'
import { openProjectTools } from './project.ts'

type UiInput = RegistryFlags & {
  readonly port: number
  readonly readOnly?: boolean
  readonly open?: boolean
  readonly tokenFile?: string
}

/** The address, never a name: a name may lead elsewhere. */
const LOOPBACK_ADDRESS = '127.0.0.1'
/** Milliseconds that requests get to end when the server stops; streams end immediately. */
const SHUTDOWN_GRACE_MS = 1_000
/** Milliseconds that a client may take to send its request: it is on this machine. */
const REQUEST_TIMEOUT_MS = 10_000

/** Serves the dashboard until the process gets a signal; gives the exit status. */
export async function serveUi(
  input: UiInput,
  { io, host: process, globals, set }: BuiltinContext,
): Promise<number> {
  const { readOnly = false, tokenFile } = input
  const json = isEnvelopeMode(choosePresentation(globals, io, set.options.defaultOutput).mode)
  const report = (level: 'warn' | 'error', message: string): void => {
    const event = { type: 'log', level, message } as const
    io.stderr.write(`${json ? formatNotificationJson(event) : formatNotificationText(event)}\n`)
  }
  // A file that was named has to be there; what is wrong inside it is shown by the page.
  findConfigFile(io.cwd, input.config)
  const project = openProject({
    cwd: io.cwd,
    env: io.env,
    now: io.now,
    surroundings: pickRegistryFlags(input),
    started: process.started,
  })
  const assets = loadAssets(findPageFolder())
  const token = readDashboardToken(project.runsFolder, { cwd: io.cwd, tokenFile, readOnly })
  process.prepareForTools(redirectStrayOutput, createServerLifecycle(io, json, SHUTDOWN_GRACE_MS))
  const backend = openDashboardBackend(project, { version: set.version, readOnly })
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
      onFailure: (error) => report('error', `a request failed: ${error.stack ?? error.message}`),
    })
    const server = await listenHttp(app, {
      host: LOOPBACK_ADDRESS,
      port: input.port,
      grace: SHUTDOWN_GRACE_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      signal: process.signal,
      headers: SECURITY_HEADERS,
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
        report(
          'warn',
          `no browser could be started (${problem.message}); open the address yourself`,
        )
    }
    await server.closed
  } finally {
    await backend.close()
  }
  await io.stderr.flush()
  return 0
}

const EPOCH_BYTES = 6

/** Everything behind the pages of a project, until it is closed. */
function openDashboardBackend(
  project: DashboardProject,
  { version, readOnly }: { readonly version: string; readonly readOnly: boolean },
): DashboardBackend & { close(): Promise<void> } {
  const epoch = randomBytes(EPOCH_BYTES).toString('hex')
  const tools = openProjectTools(project)
  const runs = openRunsSource({
    root: project.runsFolder,
    now: project.now,
    epoch,
    plans: () => readSessionPlan(project),
  })
  return {
    runs,
    actions: openActions(project, tools),
    catalogue: openCatalogue({
      project,
      tools,
      rowsOf: () => runs.rows(),
      version,
      readOnly,
      epoch,
    }),
    async close() {
      await Promise.all([runs.close(), tools.close()])
    },
  }
}

/**
 * The project of a directory, as flags say which it is. A missing configuration is an error later,
 * where it is needed.
 */
export function openProject({
  cwd,
  surroundings,
  ...given
}: Omit<DashboardProject, 'root' | 'runsFolder'>): DashboardProject {
  const { config } = surroundings
  return {
    ...given,
    cwd,
    surroundings,
    root: config === undefined ? (findProjectFolder(cwd) ?? cwd) : dirname(resolve(cwd, config)),
    runsFolder: findRunsFolder(cwd, config),
  }
}

const TOKEN_BYTES = 32

/**
 * The token of a dashboard: from the file that was named, else the one of this project, which is
 * made the first time. Whoever may only look has another one. Throws where it cannot be kept, and
 * where others can read it.
 */
function readDashboardToken(
  root: string,
  {
    cwd,
    tokenFile,
    readOnly,
  }: { readonly cwd: string; readonly tokenFile: string | undefined; readonly readOnly: boolean },
): string {
  if (tokenFile !== undefined)
    return checkToken(readSecretFile('token', resolve(cwd, tokenFile), 'token-file').trim())
  const file = join(root, readOnly ? '.ui-token-read-only' : '.ui-token')
  try {
    ensureRunsFolder(root)
    createFileExclusively(file, `${randomBytes(TOKEN_BYTES).toString('base64url')}\n`)
  } catch (error) {
    throw new ToolError(
      'CONFIG',
      `the token cannot be kept in ${root}: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`,
      {
        field: 'token-file',
        cause: error,
        suggestion: {
          fix: 'Give a token of your own by --token-file, or start it where runs can be recorded',
          example: '(umask 077; openssl rand -hex 32 > token.txt)',
        },
      },
    )
  }
  return checkToken(readSecretFile('token', file).trim())
}

/** From the built program, from the built files, and from the sources. */
const PAGE_FOLDERS = ['./dashboard/', '../dashboard/', '../../../dist/dashboard/']

/** The folder of the built page, as the package brings it. */
function findPageFolder(): string {
  const folder = PAGE_FOLDERS.map((place) => fileURLToPath(new URL(place, import.meta.url))).find(
    (path) => existsSync(`${path}index.html`),
  )
  if (folder !== undefined) return folder
  throw new ToolError('CONFIG', 'the package misses the page of the dashboard', {
    suggestion: {
      fix: 'Install toolable again; in its repository, build it',
      example: 'npm run build',
    },
  })
}

/**
 * Opens an address in the browser of this machine; gives why that could not be begun, where it
 * could not.
 */
async function openBrowser(url: string, { cwd, env }: Io): Promise<Error | undefined> {
  const started = await spawnDetached(
    { command: getOpenCommand(url), cwd, env: toChildEnvironment(env) },
    devNull,
  )
  return started instanceof Error ? started : undefined
}

function getOpenCommand(url: string): readonly [string, ...string[]] {
  if (host.platform === 'darwin') return ['open', url]
  return host.platform === 'win32'
    ? ['rundll32', 'url.dll,FileProtocolHandler', url]
    : ['xdg-open', url]
}

/**
 * The plan that `toolable plan` keeps for the project; none where there is none, or none that can
 * be read.
 */
export async function readSessionPlan({
  cwd,
  surroundings: { config },
}: Pick<DashboardProject, 'cwd' | 'surroundings'>): Promise<readonly ShownPlan[]> {
  const file = findSessionFile(cwd, { config })
  const stats = statSync(file, { throwIfNoEntry: false })
  if (!stats) return []
  try {
    const plan = await withPlanFile(
      file,
      { progress: () => undefined, signal: new AbortController().signal },
      (keeper) => keeper.read(),
      { readOnly: true },
    )
    return [{ plan, file, changed: stats.mtime.toISOString() }]
  } catch {
    return []
  }
}
