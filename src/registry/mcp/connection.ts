import type { Answerer, Sampler } from '../../contract/interaction.ts'
import type { LogLevel } from '../../contract/events.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { Asker } from './asker.ts'
import { backoff } from './backoff.ts'
import { endedFailure, hide, suggestionFor, toFailure } from './failure.ts'
import { waitFor } from './patience.ts'
import type { Patience } from './patience.ts'
import { answerServer } from './questions.ts'
import { openSession } from './session.ts'
import type { FailedAttempt, Session, SessionHooks, Verdict } from './session.ts'
import type { McpSettings } from './settings.ts'

/** Who answers what servers ask. */
export type McpServices = {
  /** Answers when it cannot be told which of several calls a server asks for; a call that runs alone is asked itself. */
  readonly answer?: Answerer
  readonly sample?: Sampler
  /** Calls bring somebody who answers, so that servers are told that they may ask. Default: only where `answer` or `sample` are given. */
  readonly callsAnswer?: boolean
}

/** A server that is kept open, and opened again when it is needed after its end. */
export type Connection = {
  /** Does something with the server for a call; throws ToolError. `what` is what is done, for messages. */
  use<T>(
    what: string,
    asker: Asker,
    work: (session: Session, patience: Patience) => Promise<T>,
  ): Promise<T>
  /** Does something with the server besides calls; opens it now, whatever failed before. Throws ToolError where it cannot be opened. */
  with<T>(work: (session: Session) => Promise<T>): Promise<T>
  /** Tells that what the server has is not what it had. */
  changed(): void
  close(): Promise<void>
}

const LONGEST_PATIENCE = 300

/** Makes the connection; nothing is started before it is used. */
export function createConnection(
  settings: McpSettings,
  services: McpServices,
  onChange: () => void,
): Connection {
  const running = new Set<Asker>()
  const verdict: Verdict = {}
  const pause = backoff()
  let session: Session | undefined
  let opening: Promise<Session> | undefined
  let isClosed = false

  const hooks: SessionHooks = {
    capabilities: {
      elicitation: services.callsAnswer === true || services.answer !== undefined,
      sampling: services.callsAnswer === true || services.sample !== undefined,
      roots: settings.roots !== 'none',
    },
    answer: (method, params) =>
      answerServer(method, params, onlyAsker(running, services, settings), settings.roots),
    log(level, text) {
      // Nothing in a log says which call it belongs to.
      if (running.size === 1)
        for (const asker of running) asker.log(hide(text, settings), logLevel(level))
    },
    listChanged: onChange,
    closed(ended) {
      if (session !== ended) return
      session = undefined
      if (!isClosed) pause.failed()
    },
  }

  const start = async (): Promise<Session> => {
    let last: FailedAttempt | undefined
    try {
      const opened = await openSession(settings, hooks, verdict, (attempt) => {
        last = attempt
      })
      if (isClosed) await opened.close()
      else session = opened
      return opened
    } catch (error) {
      pause.failed()
      throw startFailure(error, settings, last)
    } finally {
      opening = undefined
    }
  }

  const open = async (): Promise<Session> => {
    if (isClosed)
      throw new ToolError(
        'DEPENDENCY',
        `MCP server '${settings.name}' was closed with its registry`,
        { retryable: false, suggestion: { action: 'abort', fix: 'Make a new registry' } },
      )
    return session && !session.ended() ? session : (opening ??= start())
  }

  const openPatiently = async (): Promise<Session> => {
    const wait = session && !session.ended() ? 0 : pause.remaining()
    if (wait > LONGEST_PATIENCE)
      throw new ToolError(
        'DEPENDENCY',
        `MCP server '${settings.name}' failed ${pause.failures()} times in a row; it is started again in ${Math.ceil(wait / 1000)} seconds`,
        { retryable: true, suggestion: suggestionFor(settings) },
      )
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
    return open()
  }

  // A server that nobody waits for keeps no host alive; it ends with it.
  let waiting = 0
  const held = async <T>(
    opened: () => Promise<Session>,
    work: (session: Session) => Promise<T>,
  ): Promise<T> => {
    waiting += 1
    try {
      const used = await opened()
      used.hold(true)
      return await work(used)
    } finally {
      waiting -= 1
      if (waiting === 0) session?.hold(false)
    }
  }

  return {
    with: (work) => held(open, work),
    changed: onChange,
    use: (what, asker, work) =>
      held(openPatiently, async (used) => {
        const patience = waitFor(asker)
        running.add(patience.asker)
        try {
          const result = await work(used, patience)
          pause.worked()
          return result
        } catch (error) {
          if (patience.signal.aborted) throw patience.signal.reason ?? error
          // The server answered; that somebody else did not is no fault of it.
          if (ToolError.is(error)) pause.worked()
          const failure = toFailure(error, what, settings, used)
          if (isLost(error) && !used.ended()) await used.close()
          throw failure
        } finally {
          running.delete(patience.asker)
          patience.end()
        }
      }),
    async close() {
      isClosed = true
      const last = session
      last?.hold(true)
      session = undefined
      await opening?.catch(() => {})
      await last?.close()
    },
  }
}

// A server behind an address may have forgotten the session: then it is opened anew for the next call.
function isLost(error: unknown): boolean {
  const { code, data } = error as {
    readonly code?: unknown
    readonly data?: { readonly status?: unknown }
  }
  return (
    code === 'NOT_CONNECTED' || data?.status === 404 || (error as Error).message === 'Not connected'
  )
}

function startFailure(
  error: unknown,
  settings: McpSettings,
  attempt: FailedAttempt | undefined,
): ToolError {
  if (ToolError.is(error))
    return new ToolError(
      error.code,
      `MCP server '${settings.name}' cannot be started: ${error.message}`,
      { ...error.toObject(), cause: error },
    )
  if (attempt?.end === undefined && (attempt?.errorTail ?? '') === '')
    return toFailure(error, 'its first question', settings)
  const { end, errorTail, overflowed } = attempt!
  const failure = endedFailure('its start', settings, {
    describeEnd: () => end ?? (error as Error).message,
    errorTail: () => errorTail,
    overflowed: () => overflowed,
  })
  return new ToolError(failure.code, failure.message, {
    ...failure.toObject(),
    suggestion: suggestionFor(settings),
    cause: error,
  })
}

// Which call a server asks for is known only while it has one.
function onlyAsker(
  running: ReadonlySet<Asker>,
  services: McpServices,
  { name }: McpSettings,
): Asker {
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
    ask: ask as Asker['ask'],
    sample: async (prompt, { maxTokens = 1000, system } = {}) =>
      sample
        ? sample(
            { id: name, prompt, max_tokens: maxTokens, ...(system !== undefined && { system }) },
            signal,
          )
        : nobody(),
    roots: async () => nobody(),
    log: () => {},
    signal,
  }
}

function logLevel(level: string): LogLevel {
  if (level === 'debug') return 'debug'
  if (level === 'warning') return 'warn'
  return level === 'info' || level === 'notice' ? 'info' : 'error'
}
