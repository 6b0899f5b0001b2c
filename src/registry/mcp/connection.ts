/**
 * A server that is kept open, and opened again with backoff after it ended.
 */

import type { Answerer, LogLevel, Sampler } from '../../protocol/events.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { compact } from '../../util/values.ts'
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

/** Who answers what servers ask. */
export type McpServices = {
  /**
   * Answers when it cannot be told which of several calls a server asks for; a call that runs alone
   * is asked itself.
   */
  readonly answer?: Answerer
  readonly sample?: Sampler
}

/** A server that is kept open, and opened again when it is needed after its end. */
export type McpConnection = {
  /**
   * Does something with the server for a call; throws ToolError. `what` is what is done, for
   * messages.
   */
  use<T>(
    what: string,
    asker: ServerAsker,
    work: (session: McpClientSession, patience: ServerWait) => Promise<T>,
  ): Promise<T>
  /**
   * Does something with the server besides calls; opens it now, whatever failed before. Throws
   * ToolError where it cannot be opened.
   */
  with<T>(work: (session: McpClientSession) => Promise<T>): Promise<T>
  /** Tells that what the server has is not what it had. */
  changed(): void
  close(): Promise<void>
}

const MAX_BACKOFF_WAIT_MS = 300

/** Makes the connection; nothing is started before it is used. */
export function createMcpConnection(
  settings: McpSettings,
  services: McpServices,
  onChange: () => void,
): McpConnection {
  const running = new Set<ServerAsker>()
  const verdict: ServerEra = {}
  const pause = createBackoff()
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
      // Nothing in a log says which call it belongs to.
      if (running.size === 1)
        for (const asker of running) asker.log(hideSecrets(text, settings), toLogLevel(level))
    },
    listChanged: onChange,
    closed(ended) {
      if (session !== ended) return
      session = undefined
      if (!isClosed) pause.failed()
    },
  }

  const start = async (): Promise<McpClientSession> => {
    let last: FailedConnectAttempt | undefined
    try {
      const opened = await openMcpSession(settings, hooks, verdict, (attempt) => {
        last = attempt
      })
      if (isClosed) await opened.close()
      else session = opened
      return opened
    } catch (error) {
      pause.failed()
      throw toStartFailure(error, settings, last)
    } finally {
      opening = undefined
    }
  }

  const open = async (): Promise<McpClientSession> => {
    if (isClosed)
      throw new ToolError(
        'DEPENDENCY',
        `MCP server '${settings.name}' was closed with its registry`,
        { retryable: false, suggestion: { action: 'abort', fix: 'Make a new registry' } },
      )
    return session && !session.ended() ? session : (opening ??= start())
  }

  const openPatiently = async (): Promise<McpClientSession> => {
    const wait = session && !session.ended() ? 0 : pause.remaining()
    if (wait > MAX_BACKOFF_WAIT_MS)
      throw new ToolError(
        'DEPENDENCY',
        `MCP server '${settings.name}' failed ${pause.failures()} times in a row; it is started again in ${Math.ceil(wait / 1000)} seconds`,
        { retryable: true, suggestion: suggestManualCheck(settings) },
      )
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
    return open()
  }

  // A server that nobody waits for keeps no host alive; it ends with it.
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
      held(open, async (used) => {
        try {
          return await work(used)
        } catch (error) {
          await closeIfLost(used, error)
          throw error
        }
      }),
    changed: onChange,
    use: (what, asker, work) =>
      held(openPatiently, async (used) => {
        const patience = startServerWait(asker)
        running.add(patience.asker)
        try {
          const result = await work(used, patience)
          pause.worked()
          return result
        } catch (error) {
          if (patience.signal.aborted) throw patience.signal.reason ?? error
          // The server answered; that somebody else did not is no fault of it.
          if (ToolError.is(error)) pause.worked()
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

// A server behind an address may have forgotten the session: then the next use opens another one.
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

// Which call a server asks for is known only while it has one.
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
  const ask = async (question: {
    readonly kind: 'confirm' | 'input' | 'decision'
    readonly prompt: string
    readonly schema?: unknown
  }): Promise<unknown> =>
    answer
      ? ((await answer({ id: name, ...question } as Parameters<Answerer>[0], signal)) ?? nobody())
      : nobody()
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

function toLogLevel(level: string): LogLevel {
  if (level === 'debug') return 'debug'
  if (level === 'warning') return 'warn'
  return level === 'info' || level === 'notice' ? 'info' : 'error'
}

const MAX_SILENCE_MS = 10 * 60_000

/** A call that waits for its server. */
type ServerWait = {
  /** Aborted with the call, or when the server gave no sign of life for ten minutes. */
  readonly signal: AbortSignal
  /** The call's own asker; while somebody is asked, silence of the server does not count. */
  readonly asker: ServerAsker
  /** Tells of a sign of life. */
  markAlive(): void
  /** Why somebody who was asked did not answer: the true cause of what the server may say then. */
  getRefusal(): ToolError | undefined
  end(): void
}

/** Begins to wait. */
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
  const alive = (): void => void timer.refresh()
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
    markAlive: alive,
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

/**
 * How long to wait before something that fails is tried again: not at all after the first failure,
 * then twice as long each time.
 */
type ReconnectBackoff = {
  failed(): void
  worked(): void
  failures(): number
  /** Milliseconds until it may be tried again. */
  remaining(): number
}

/** Starts without failures. */
function createBackoff(now: () => number = () => performance.now()): ReconnectBackoff {
  let failures = 0
  let notBefore = 0
  return {
    failed() {
      failures += 1
      notBefore =
        failures === 1
          ? 0
          : now() + Math.min(MAX_BACKOFF_MS, INITIAL_BACKOFF_MS * 2 ** (failures - 2))
    },
    worked() {
      failures = 0
      notBefore = 0
    },
    failures: () => failures,
    remaining: () => Math.max(0, notBefore - now()),
  }
}
