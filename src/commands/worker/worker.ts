import { resolve } from 'node:path'
import type { ToolError } from '../../contract/tool-error.ts'
import type { Registry } from '../../registry/registry-type.ts'
import { findRunsFolder } from '../../runner/folder/find-runs-folder.ts'
import type { BuiltinContext } from '../../surfaces/builtin/builtin.ts'
import { findCaller } from '../../surfaces/cli/caller.ts'
import { choosePresentation } from '../../surfaces/cli/mode.ts'
import { toJsonText } from '../../surfaces/cli/output/json-text.ts'
import { printsEnvelope } from '../../surfaces/cli/output/print.ts'
import { notificationLine, notificationText } from '../../surfaces/cli/progress/notify.ts'
import { readSecret } from '../../surfaces/cli/secrets.ts'
import { servingProcess } from '../../surfaces/cli/serving.ts'
import { redirectStrayOutput } from '../../surfaces/cli/stray-output.ts'
import { tokenMatcher } from '../../surfaces/http/guards/token.ts'
import { checkToken } from '../../surfaces/http/check-options.ts'
import { explainListenError } from '../../surfaces/http/node/listen-error.ts'
import { adminAt, registerWorker } from '../../workflow/engines/restate/admin.ts'
import { persistently } from '../../workflow/engines/restate/ask-server.ts'
import { loadSdk } from '../../workflow/engines/restate/load-sdk.ts'
import { openEndpoint } from '../../workflow/engines/restate/worker/endpoint.ts'
import { LiveSteps } from '../../workflow/engines/restate/worker/live-steps.ts'
import type { PerformStep } from '../../workflow/engines/restate/worker/live-steps.ts'
import { makeServices } from '../../workflow/engines/restate/worker/services.ts'
import { createPerformTool } from '../../workflow/steps/perform-tool.ts'
import type { Surroundings } from '../config/load.ts'
import { surroundingsOf } from '../run/surroundings.ts'
import { withRegistry } from '../with-registry.ts'
import { advertised, checkReach } from './check-reach.ts'
import { readAddress, urlOf } from './listen-address.ts'

type WorkerInput = Surroundings & {
  readonly listen: string
  readonly admin: string
  readonly advertise?: string
  readonly tokenFile?: string
  readonly grace: number
}

/** Milliseconds beyond the grace of steps until the process dies of a signal in any case. */
const LAST_WORDS = 5_000

/** Serves until the process is told to stop; gives the exit status. */
export async function runWorker(
  input: WorkerInput,
  { io, host: process, globals, set }: BuiltinContext,
): Promise<number> {
  const address = readAddress(input.listen)
  const token =
    input.tokenFile === undefined
      ? undefined
      : checkToken(readSecret('token', resolve(io.cwd, input.tokenFile), 'token-file').trim())
  checkReach(address, input.advertise, token)
  const sdk = await loadSdk(io.cwd)
  const json = printsEnvelope(
    choosePresentation(globals, io, findCaller(io.env), {}, set.options.defaultOutput).mode,
  )
  const tell = (message: string): void => {
    const event = { type: 'log', level: 'warn', message } as const
    io.stderr.write(`${json ? notificationLine(event) : notificationText(event)}\n`)
  }
  const grace = input.grace * 1000
  process.prepareForTools(redirectStrayOutput, servingProcess(io, json, grace + LAST_WORDS))
  return withRegistry(surroundingsOf(input), io, async (registry) => {
    await registry.prepare?.()
    const steps = new LiveSteps(performer(registry, findRunsFolder(io.cwd, input.config), io))
    const isToken = token === undefined ? undefined : tokenMatcher(`Bearer ${token}`)
    const endpoint = await openEndpoint(sdk, {
      ...address,
      services: makeServices(sdk, { steps }),
      ...(isToken && {
        isAllowed: (authorization: string | undefined) => isToken(authorization ?? ''),
      }),
      onWarning: (text) => tell(text),
    }).catch(async (error: NodeJS.ErrnoException) => {
      throw await explainListenError(error, address.host, address.port)
    })
    const url = advertised(input.advertise) ?? urlOf({ ...address, port: endpoint.port })
    try {
      await register(input.admin, url, token, process.signal, (error) =>
        tell(`${error.message}; it is tried again`),
      )
      io.stderr.write(
        json
          ? `${toJsonText({ type: 'notification', kind: 'listening', url, admin: input.admin })}\n`
          : `the worker at ${url} is registered at ${input.admin}\n`,
      )
      await aborted(process.signal)
      await endpoint.drain(steps.idle(), grace)
    } catch (error) {
      if (!process.signal.aborted) throw error
    }
    // First the connections: what is broken off from here on is no result.
    await endpoint.close()
    await io.stderr.flush()
    return 0
  })
}

// A server may be started after its workers.
function register(
  admin: string,
  url: string,
  token: string | undefined,
  signal: AbortSignal,
  onFailure: (error: ToolError) => void,
): Promise<void> {
  let last = ''
  return persistently(
    () =>
      registerWorker(adminAt(admin.replace(/\/+$/, '')), url, {
        signal,
        ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
      }),
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

function performer(
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
      ask: ({ question, context }, until) =>
        ask({ ...question, ...(context && { context }) }, until),
    })(call, signal)
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) =>
    signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true }),
  )
}
