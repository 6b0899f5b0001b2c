/**
 * `toolable worker`: executes workflows for a Restate server.
 */

import { resolve } from 'node:path'
import { formatNotificationJson, formatNotificationText } from '../cli/formats/envelope.ts'
import { toJsonText } from '../cli/formats/json-text.ts'
import { isEnvelopeMode } from '../cli/output.ts'
import { choosePresentation } from '../cli/presentation.ts'
import { readSecretFile } from '../cli/secrets.ts'
import { createServerLifecycle } from '../cli/server.ts'
import { redirectStrayOutput } from '../cli/stray-output.ts'
import type { BuiltinContext } from '../cli/types.ts'
import { isLoopback } from '../http/guards.ts'
import { explainListenError } from '../http/listen-error.ts'
import { checkToken } from '../http/options.ts'
import { createTokenMatcher } from '../http/token.ts'
import { ToolError } from '../protocol/tool-error.ts'
import type { Registry } from '../registry/types.ts'
import { findRunsFolder } from '../runner/run-paths.ts'
import { compact } from '../util/values.ts'
import { createPerformTool } from '../workflow/perform-tool.ts'
import { createAdminServer, registerWorker, withRetries } from '../workflow/restate/client.ts'
import { loadRestateSdk } from '../workflow/restate/sdk.ts'
import { createWorkerServices } from '../workflow/restate/worker-services.ts'
import type { PerformStep } from '../workflow/restate/worker.ts'
import { LiveSteps, openWorkerEndpoint } from '../workflow/restate/worker.ts'
import type { RegistryFlags } from './config.ts'
import { pickRegistryFlags, withRegistry } from './config.ts'

type WorkerInput = RegistryFlags & {
  readonly listen: string
  readonly admin: string
  readonly advertise?: string
  readonly tokenFile?: string
  readonly grace: number
}

/** Milliseconds beyond the grace of steps until the process dies of a signal in any case. */
const SHUTDOWN_MARGIN_MS = 5_000

/** Serves until the process gets a signal; gives the exit status. */
export async function runWorker(
  input: WorkerInput,
  { io, host: process, globals, set }: BuiltinContext,
): Promise<number> {
  const address = parseListenAddress(input.listen)
  const token =
    input.tokenFile === undefined
      ? undefined
      : checkToken(readSecretFile('token', resolve(io.cwd, input.tokenFile), 'token-file').trim())
  requireSafeReach(address, input.advertise, token)
  const sdk = await loadRestateSdk(io.cwd)
  const json = isEnvelopeMode(choosePresentation(globals, io, set.options.defaultOutput).mode)
  const warn = (message: string): void => {
    const event = { type: 'log', level: 'warn', message } as const
    io.stderr.write(`${json ? formatNotificationJson(event) : formatNotificationText(event)}\n`)
  }
  const grace = input.grace * 1000
  process.prepareForTools(
    redirectStrayOutput,
    createServerLifecycle(io, json, grace + SHUTDOWN_MARGIN_MS),
  )
  return withRegistry(pickRegistryFlags(input), io, async (registry) => {
    await registry.prepare?.()
    const steps = new LiveSteps(
      createStepPerformer(registry, findRunsFolder(io.cwd, input.config), io),
    )
    const isToken = token === undefined ? undefined : createTokenMatcher(`Bearer ${token}`)
    const endpoint = await openWorkerEndpoint(sdk, {
      ...address,
      services: createWorkerServices(sdk, steps),
      ...compact({
        isAllowed: isToken
          ? (authorization: string | undefined) => isToken(authorization ?? '')
          : undefined,
      }),
      onWarning: warn,
    }).catch(async (error: NodeJS.ErrnoException) => {
      throw await explainListenError(error, address.host, address.port)
    })
    const url = parseAdvertisedUrl(input.advertise) ?? toUrl({ ...address, port: endpoint.port })
    try {
      await registerAtServer(input.admin, url, token, process.signal, (error) =>
        warn(`${error.message}; it is tried again`),
      )
      io.stderr.write(
        json
          ? `${toJsonText({ type: 'notification', kind: 'listening', url, admin: input.admin })}\n`
          : `the worker at ${url} is registered at ${input.admin}\n`,
      )
      await waitForAbort(process.signal)
      await endpoint.drain(steps.idle(), grace)
    } catch (error) {
      if (!process.signal.aborted) throw error
    }
    // Connections close first: a step that is cut off after this is no result.
    await endpoint.close()
    await io.stderr.flush()
    return 0
  })
}

// A server may be started after its workers.
function registerAtServer(
  admin: string,
  url: string,
  token: string | undefined,
  signal: AbortSignal,
  onFailure: (error: ToolError) => void,
): Promise<void> {
  let last = ''
  return withRetries(
    () =>
      registerWorker(
        createAdminServer(admin.replace(/\/+$/, '')),
        url,
        compact({
          signal,
          headers: token !== undefined ? { authorization: `Bearer ${token}` } : undefined,
        }),
      ),
    {
      tries: Infinity,
      signal,
      onFailure: (error) => {
        if (error.message !== last) onFailure(error)
        last = error.message
      },
    },
  )
}

function createStepPerformer(
  registry: Registry,
  runsFolder: string,
  { cwd, env }: BuiltinContext['io'],
): PerformStep {
  return (call, signal, ask) =>
    createPerformTool({
      registry,
      runsFolder,
      cwd,
      env,
      ask: ({ question, context }, until) => ask({ ...question, ...compact({ context }) }, until),
    })(call, signal)
}

function waitForAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) =>
    signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true }),
  )
}

/**
 * Refuses a worker that everybody could use, and one that the server could not find. Throws CONFIG.
 */
function requireSafeReach(
  { host }: ListenAddress,
  advertise: string | undefined,
  token: string | undefined,
): void {
  if (!isLoopback(host) && token === undefined)
    throw new ToolError(
      'CONFIG',
      `${host} can be reached from other machines, and whoever reaches a worker runs tools: it needs a token`,
      {
        field: 'token-file',
        suggestion: {
          fix: 'Write a token to a file that only you can read and start with --token-file token.txt, or bind 127.0.0.1',
          example: '(umask 077; openssl rand -hex 32 > token.txt)',
        },
      },
    )
  if (isWildcardAddress(host) && advertise === undefined)
    throw new ToolError('CONFIG', `${host} is no address that the server could call`, {
      field: 'advertise',
      suggestion: '--advertise http://<name of this machine>:9080',
    })
}

/** The address to register at the server, where one was given. Throws CONFIG where it is invalid. */
function parseAdvertisedUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url.href
  throw new ToolError('CONFIG', `'${text.slice(0, 100)}' is not the address of a worker`, {
    field: 'advertise',
    suggestion: '--advertise http://worker-1:9080',
  })
}

/** A place to bind. */
type ListenAddress = { readonly host: string; readonly port: number }

/** Reads `host:port`, `[::1]:port`, or a port alone, which means loopback. Throws INVALID_INPUT. */
function parseListenAddress(text: string): ListenAddress {
  const [, bracketed, plain, digits] =
    /^(?:(?:\[([^\]]+)\]|([^:[\]]+)):)?(\d{1,5})$/.exec(text.trim()) ?? []
  const port = Number(digits)
  if (digits === undefined || port > 65_535)
    throw new ToolError('INVALID_INPUT', `'${text.slice(0, 100)}' is not an address to listen on`, {
      field: 'listen',
      suggestion: '--listen 127.0.0.1:9080',
    })
  return { host: bracketed ?? plain ?? '127.0.0.1', port }
}

/** The URL of a place. */
function toUrl({ host, port }: ListenAddress): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** True for an address that means every interface, which no other machine can call. */
function isWildcardAddress(host: string): boolean {
  return /^(0\.0\.0\.0|::|0)$/.test(host)
}
