/**
 * A worker process: its HTTP/2 endpoint, and the tools it is running.
 */

import type { Http2ServerRequest, Http2ServerResponse, ServerHttp2Session } from 'node:http2'
import { createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { ToolError } from '../../protocol/tool-error.ts'
import { waitAtMost } from '../../util/async.ts'
import type { OperationOutcome, WorkflowQuestion } from '../engine.ts'
import type { RestateSdk } from './sdk.ts'
import type { RestateStepRequest } from './wire.ts'

type WorkerEndpointOptions = {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  readonly services: readonly unknown[]
  /** Whether a request may come in, by its `authorization`; absent: every one may. */
  readonly isAllowed?: (authorization: string | undefined) => boolean
  /** Receives warnings of the SDK. */
  readonly onWarning: (text: string) => void
}

/** A worker that listens. */
export type WorkerEndpoint = {
  readonly port: number
  /**
   * Takes nothing new, and continues what runs until `idle`, or until this many milliseconds have
   * passed.
   */
  drain(idle: Promise<void>, grace: number): Promise<void>
  /** Drops what runs: the server gives it to another worker. */
  close(): Promise<void>
}

/**
 * Serves over HTTP/2, which the Restate server speaks to its workers. Rejects as `listen` of node
 * does.
 */
export async function openWorkerEndpoint(
  sdk: RestateSdk,
  { host, port, services, isAllowed, onWarning }: WorkerEndpointOptions,
): Promise<WorkerEndpoint> {
  const handle = sdk.createEndpointHandler({
    services,
    logger: ({ level, replaying }, ...words) => {
      // The SDK warns at every start that requests carry no signature; `isAllowed` decides about
      // them. The caller already gets what a handler refuses.
      const isUsual =
        String(words[0]).startsWith('Accepting requests without') ||
        words.some((word) => word instanceof sdk.TerminalError)
      if ((level === 'warn' || level === 'error') && !replaying && !isUsual)
        onWarning(words.map(formatLogWord).join(' '))
    },
  })
  const sessions = new Set<ServerHttp2Session>()
  const server = createServer((request: Http2ServerRequest, response: Http2ServerResponse) => {
    if (isAllowed?.(request.headers.authorization) ?? true) return handle(request, response)
    response.writeHead(401, { 'www-authenticate': 'Bearer' })
    response.end()
  })
  server.on('session', (session) => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
    // A worker survives a server that is killed: it comes back.
    session.on('error', () => undefined)
  })
  server.on('stream', (stream) => stream.on('error', () => undefined))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      server.removeListener('error', reject)
      server.on('error', () => undefined)
      resolve()
    })
  })
  let closed: Promise<void> | undefined
  const stopListening = (): Promise<void> =>
    (closed ??= new Promise((resolve) => server.close(() => resolve())))
  return {
    port: (server.address() as AddressInfo).port,
    async drain(idle, grace) {
      void stopListening()
      for (const session of sessions) session.close()
      await waitAtMost(grace, idle)
    },
    async close() {
      void stopListening()
      for (const session of sessions) session.destroy()
      await closed
    },
  }
}

function formatLogWord(word: unknown): string {
  if (word instanceof Error) return word.message
  return typeof word === 'string' ? word.trim() : JSON.stringify(word)
}

/** Runs a tool, and asks its questions. Never rejects. */
export type PerformStep = (
  call: RestateStepRequest & { readonly idempotencyKey: string },
  signal: AbortSignal,
  ask: (
    question: WorkflowQuestion,
    signal: AbortSignal,
  ) => Promise<{ readonly value: unknown } | undefined>,
) => Promise<OperationOutcome>

/** The outcome of a step, or a question that it waits for. */
export type StepUpdate =
  { readonly settled: OperationOutcome } | { readonly asks: WorkflowQuestion }

type LiveStep = {
  readonly done: Promise<OperationOutcome>
  readonly controller: AbortController
  readonly asked: Map<
    string,
    {
      readonly question: WorkflowQuestion
      readonly resolve: (answer: { readonly value: unknown }) => void
    }
  >
  isOver: boolean
  /** Resolves when it asks something more. */
  asking: Promise<void>
  wake: () => void
}

const MAX_KEPT_STEPS = 1000

/**
 * The tools that this worker runs. A server that restarts, or takes a worker for dead, requests a
 * step again while its tool still runs: then it joins that one. A result is kept until the server
 * asks for it.
 */
export class LiveSteps {
  private readonly lives = new Map<string, LiveStep>()
  private readonly answers = new Map<string, Map<string, unknown>>()
  private onIdle: () => void = () => undefined

  constructor(private readonly perform: PerformStep) {}

  /**
   * Performs a step, or joins the one that is under way, until it ends or asks something that is
   * not among `known`.
   */
  async join(step: RestateStepRequest, known: readonly string[]): Promise<StepUpdate> {
    const live = this.lives.get(getStepKey(step)) ?? this.begin(step)
    for (;;) {
      const more = [...live.asked.values()].find(({ question }) => !known.includes(question.id))
      if (more) return { asks: more.question }
      const settled = await Promise.race([live.done, live.asking])
      if (settled) return { settled }
    }
  }

  /** An answer to what a step asks. It is kept for a tool that asks the same later. */
  give(step: RestateStepRequest, question: string, value: unknown): void {
    const key = getStepKey(step)
    const given = this.answers.get(key) ?? new Map<string, unknown>()
    this.answers.set(key, given.set(question, value))
    const asked = this.lives.get(key)?.asked
    asked?.get(question)?.resolve({ value })
    asked?.delete(question)
  }

  /** Ends a step; undefined where none is under way here. */
  stop(step: RestateStepRequest): Promise<OperationOutcome> | undefined {
    const live = this.lives.get(getStepKey(step))
    live?.controller.abort(new ToolError('CANCELLED', 'the step was cancelled'))
    return live?.done
  }

  /** The engine has its outcome. */
  forget(step: RestateStepRequest): void {
    this.lives.delete(getStepKey(step))
    this.answers.delete(getStepKey(step))
    if (this.lives.size === 0) this.onIdle()
  }

  /** Resolves when nothing runs any more, and the engine has all outcomes. */
  idle(): Promise<void> {
    if (this.lives.size === 0) return Promise.resolve()
    return new Promise((resolve) => (this.onIdle = resolve))
  }

  private begin(step: RestateStepRequest): LiveStep {
    const key = getStepKey(step)
    const controller = new AbortController()
    const asked: LiveStep['asked'] = new Map()
    const ask = (
      question: WorkflowQuestion,
      signal: AbortSignal,
    ): Promise<{ readonly value: unknown } | undefined> => {
      const given = this.answers.get(key)
      // An answer that the tool rejected will not be better the second time.
      if (given?.has(question.id))
        return Promise.resolve(
          question.problem === undefined ? { value: given.get(question.id) } : undefined,
        )
      return new Promise((resolve) => {
        asked.set(question.id, { question, resolve })
        signal.addEventListener(
          'abort',
          () => {
            asked.delete(question.id)
            resolve(undefined)
          },
          { once: true },
        )
        const { wake } = live
        resetAsking(live)
        wake()
      })
    }
    const done = Promise.resolve()
      .then(() =>
        this.perform(
          { ...step, idempotencyKey: `${step.workflow}/${step.step}` },
          controller.signal,
          ask,
        ),
      )
      .catch((error: unknown) => toDefectOutcome('the worker failed', error))
    const live: LiveStep = resetAsking({ done, controller, asked, isOver: false } as LiveStep)
    this.lives.set(key, live)
    void done.then(() => {
      live.isOver = true
      this.forgetOldest()
    })
    return live
  }

  // Results that no server ever asked for again would fill the memory.
  private forgetOldest(): void {
    if (this.lives.size <= MAX_KEPT_STEPS) return
    for (const [key, { isOver }] of this.lives) {
      if (!isOver) continue
      this.answers.delete(key)
      return void this.lives.delete(key)
    }
  }
}

function resetAsking(live: LiveStep): LiveStep {
  live.asking = new Promise((resolve) => (live.wake = resolve))
  return live
}

function getStepKey({ workflow, step, attempt }: RestateStepRequest): string {
  return `${workflow}/${step}#${attempt}`
}

/** The outcome of a defect in toolable itself. */
export function toDefectOutcome(what: string, error: unknown): OperationOutcome {
  const why = error instanceof Error ? error.message : String(error)
  return { ok: false, error: { code: 'INTERNAL', message: `${what}: ${why}`, retryable: false } }
}
