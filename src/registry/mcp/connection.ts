/**
 * A server that is kept open, and opened again with backoff after it ended.
 */

import type { Answerer, LogLevel } from '../../protocol/events.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { delay } from '../../util/async.ts'
import { compact } from '../../util/values.ts'
import type { SourceHost } from '../source.ts'
import type { ServerAsker } from './elicitation.ts'
import { answerServerRequest } from './elicitation.ts'
import type {
  FailedConnectAttempt,
  McpClientSession,
  McpSessionHooks,
  ServerEra,
} from './session.ts'
import {
  hideSecrets,
  openMcpSession,
  suggestManualCheck,
  toServerEndedError,
  toServerError,
} from './session.ts'
import type { McpSettings } from './transports.ts'

/**
 * Answers what a server asks when it is unclear which of several calls it asks for. A call that runs
 * alone answers itself.
 */
export type McpServices = Pick<SourceHost, 'answer' | 'sample'>

/** A server that is kept open, and opened again on the next use after it ended. */
export type McpConnection = {
  /** Works with the server for a call. `what` names the work in messages. Throws ToolError. */
  use<T>(
    what: string,
    asker: ServerAsker,
    work: (session: McpClientSession, patience: ServerWait) => Promise<T>,
  ): Promise<T>
  /**
   * Works with the server outside of calls. Opens it now, without backoff. Throws ToolError when it
   * cannot be opened.
   */
  with<T>(work: (session: McpClientSession) => Promise<T>): Promise<T>
  /** Reports that the server's lists have changed. */
  changed(): void
  close(): Promise<void>
}

const MAX_BACKOFF_WAIT_MS = 300

/** Creates the connection. The first use starts the server. */
export function createMcpConnection(
  settings: McpSettings,
  services: McpServices,
  onChange: () => void,
): McpConnection {
  const running = new Set<ServerAsker>()
  const era: ServerEra = {}
  const backoff = new ReconnectBackoff()
  let session: McpClientSession | undefined
  let opening: Promise<McpClientSession> | undefined
  let isClosed = false

  const hooks: McpSessionHooks = {
    capabilities: {
      elicitation: services.answer !== undefined,
      sampling: services.sample !== undefined,
      roots: settings.roots !== 'none',
    },
    answer: (method, params) =>
      answerServerRequest(method, params, chooseAsker(running, services, settings), settings.roots),
    log(level, text) {
      // A log does not say which call it belongs to.
      if (running.size === 1)
        for (const asker of running)
          asker.log(hideSecrets(text, settings), LOG_LEVELS[level] ?? 'error')
    },
    listChanged: onChange,
    closed(ended) {
      if (session !== ended) return
      session = undefined
      if (!isClosed) backoff.failed()
    },
  }

  const start = async (): Promise<McpClientSession> => {
    let last: FailedConnectAttempt | undefined
    try {
      const opened = await openMcpSession(settings, hooks, era, (attempt) => {
        last = attempt
      })
      if (isClosed) await opened.close()
      else session = opened
      return opened
    } catch (error) {
      backoff.failed()
      throw toStartFailure(error, settings, last)
    } finally {
      opening = undefined
    }
  }

  const hasSession = (): boolean => session !== undefined && !session.ended()

  const open = async (): Promise<McpClientSession> => {
    if (isClosed)
      throw new ToolError(
        'DEPENDENCY',
        `MCP server '${settings.name}' was closed with its registry`,
        { retryable: false, suggestion: { action: 'abort', fix: 'Make a new registry' } },
      )
    return session && hasSession() ? session : (opening ??= start())
  }

  const openPatiently = async (): Promise<McpClientSession> => {
    const wait = hasSession() ? 0 : backoff.remaining()
    if (wait > MAX_BACKOFF_WAIT_MS)
      throw new ToolError(
        'DEPENDENCY',
        `MCP server '${settings.name}' failed ${backoff.failures} times in a row; it is started again in ${Math.ceil(wait / 1000)} seconds`,
        { retryable: true, suggestion: suggestManualCheck(settings) },
      )
    if (wait > 0) await delay(wait)
    return open()
  }

  // A server that no call waits for must not keep the host's process alive.
  let waiting = 0
  const held = async <T>(
    opened: () => Promise<McpClientSession>,
    work: (session: McpClientSession) => Promise<T>,
  ): Promise<T> => {
    waiting += 1
    try {
      const used = await opened()
      used.keepAlive(true)
      return await work(used)
    } finally {
      waiting -= 1
      if (waiting === 0) session?.keepAlive(false)
    }
  }

  return {
    with: (work) =>
      held(open, (used) =>
        work(used).catch(async (error: unknown) => {
          await closeIfLost(used, error)
          throw error
        }),
      ),
    changed: onChange,
    use: (what, asker, work) =>
      held(openPatiently, async (used) => {
        const patience = startServerWait(asker)
        running.add(patience.asker)
        try {
          const result = await work(used, patience)
          backoff.worked()
          return result
        } catch (error) {
          if (patience.signal.aborted) throw patience.signal.reason ?? error
          // The server did answer; another party failed.
          if (ToolError.is(error)) backoff.worked()
          const failure = toServerError(error, what, settings, used)
          await closeIfLost(used, error)
          throw failure
        } finally {
          running.delete(patience.asker)
          patience.end()
        }
      }),
    async close() {
      isClosed = true
      const last = session
      last?.keepAlive(true)
      session = undefined
      await opening?.catch(() => {})
      await last?.close()
    },
  }
}

// A server at an address may have forgotten the session: then the next use opens another one.
async function closeIfLost(session: McpClientSession, error: unknown): Promise<void> {
  const { code, data, message } = error as {
    readonly code?: unknown
    readonly data?: { readonly status?: unknown }
    readonly message?: string
  }
  const isLost = code === 'NOT_CONNECTED' || data?.status === 404 || message === 'Not connected'
  if (isLost && !session.ended()) await session.close()
}

function toStartFailure(
  error: unknown,
  settings: McpSettings,
  attempt: FailedConnectAttempt | undefined,
): ToolError {
  if (ToolError.is(error))
    return new ToolError(
      error.code,
      `MCP server '${settings.name}' cannot be started: ${error.message}`,
      { ...error.toObject(), cause: error },
    )
  if (attempt?.end === undefined && (attempt?.errorTail ?? '') === '')
    return toServerError(error, 'its first question', settings)
  const { end, errorTail, overflowed } = attempt!
  const failure = toServerEndedError('its start', settings, {
    describeEnd: () => end ?? (error as Error).message,
    errorTail: () => errorTail,
    overflowed: () => overflowed,
  })
  return new ToolError(failure.code, failure.message, {
    ...failure.toObject(),
    suggestion: suggestManualCheck(settings),
    cause: error,
  })
}

// Which call a server asks for is known only while there is one.
function chooseAsker(
  running: ReadonlySet<ServerAsker>,
  services: McpServices,
  { name }: McpSettings,
): ServerAsker {
  if (running.size === 1) return [...running][0]!
  const nobody = (): never => {
    throw new ToolError(
      'ANSWER_REQUIRED',
      `MCP server '${name}' asks something while ${running.size === 0 ? 'no call runs' : 'several calls run'}, and nobody is named who answers then`,
    )
  }
  const signal = new AbortController().signal
  const { answer, sample } = services
  const ask = async (question: object): Promise<unknown> =>
    (await answer?.({ id: name, ...question } as Parameters<Answerer>[0], signal)) ?? nobody()
  return {
    ask: ask as ServerAsker['ask'],
    sample: async (prompt, { maxTokens = 1000, system } = {}) =>
      sample
        ? sample(compact({ id: name, prompt, max_tokens: maxTokens, system }), signal)
        : nobody(),
    roots: async () => nobody(),
    log: () => {},
    signal,
  }
}

const LOG_LEVELS: { readonly [level: string]: LogLevel } = {
  debug: 'debug',
  info: 'info',
  notice: 'info',
  warning: 'warn',
}

const MAX_SILENCE_MS = 10 * 60_000

/** A call that waits for its server. */
type ServerWait = {
  /** Aborted with the call, or when the server was silent for ten minutes. */
  readonly signal: AbortSignal
  /** The call's own asker. The server's silence does not count while a question is open. */
  readonly asker: ServerAsker
  /** Restarts the count of the server's silence. */
  markAlive(): void
  /** Why a question got no answer: the true cause of the error that the server may report then. */
  getRefusal(): ToolError | undefined
  end(): void
}

/** Starts to wait. */
function startServerWait(asker: ServerAsker): ServerWait {
  const controller = new AbortController()
  const giveUp = (): void =>
    controller.abort(
      new ToolError(
        'TIMEOUT',
        `the server gave no sign of life for ${MAX_SILENCE_MS / 60_000} minutes`,
        {
          suggestion: "Give the server a 'callTimeout' in its configuration, or the call a timeout",
        },
      ),
    )
  const stop = (): void => controller.abort(asker.signal.reason)
  let refusal: ToolError | undefined
  let timer = setTimeout(giveUp, MAX_SILENCE_MS)
  const pausing = async <R>(ask: () => Promise<R>): Promise<R> => {
    clearTimeout(timer)
    try {
      return await ask()
    } catch (error) {
      if (ToolError.is(error)) refusal = error
      throw error
    } finally {
      timer = setTimeout(giveUp, MAX_SILENCE_MS)
      if (controller.signal.aborted) clearTimeout(timer)
    }
  }
  asker.signal.addEventListener('abort', stop, { once: true })
  if (asker.signal.aborted) stop()
  return {
    signal: controller.signal,
    asker: {
      signal: controller.signal,
      log: (message, level) => asker.log(message, level),
      roots: (options) => asker.roots(options),
      ask: ((question: never) => pausing(() => asker.ask(question))) as ServerAsker['ask'],
      sample: (prompt, options) => pausing(() => asker.sample(prompt, options)),
    },
    markAlive: () => void timer.refresh(),
    getRefusal: () => refusal,
    end() {
      controller.abort()
      clearTimeout(timer)
      asker.signal.removeEventListener('abort', stop)
    },
  }
}

const INITIAL_BACKOFF_MS = 250
const MAX_BACKOFF_MS = 30_000

/** How long to wait before the next start: not at all after one failure, then twice as long each time. */
class ReconnectBackoff {
  failures = 0
  private notBefore = 0

  failed(): void {
    this.failures += 1
    if (this.failures === 1) return
    const wait = Math.min(MAX_BACKOFF_MS, INITIAL_BACKOFF_MS * 2 ** (this.failures - 2))
    this.notBefore = performance.now() + wait
  }

  worked(): void {
    this.failures = 0
    this.notBefore = 0
  }

  /** Milliseconds until the next start is allowed. */
  remaining(): number {
    return Math.max(0, this.notBefore - performance.now())
  }
}
