/**
 * The work on one request. It may outlive the request: while a client gathers answers, and as a
 * task.
 */

import { Cancellation } from '../core/call.ts'
import { onAbort } from '../core/lifecycle.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { isObject } from '../util/values.ts'
import type { ClientQuestion } from './client-questions.ts'
import { hasCapability, RpcError, toRpcError } from './protocol.ts'
import type {
  ClientCapabilities,
  McpClient,
  McpExchange,
  RpcErrorObject,
  RpcParams,
} from './protocol.ts'

/** How the work on a request ended. */
export type McpCallOutcome = { readonly result: object } | { readonly error: RpcErrorObject }

/**
 * Why waiting for a call ended: it is over, it needs answers, or the time that a client waits
 * inline has passed.
 */
export type WaitResult = 'settled' | 'asked' | 'waited'

type PendingQuestion = {
  readonly question: ClientQuestion
  give(value: unknown): void
  fail(error: unknown): void
}

/**
 * The work on one request, which may outlive it: while a modern client gathers answers, and as a
 * task.
 */
export class McpCall {
  outcome: McpCallOutcome | undefined
  /** What the client would have needed to declare; set when a question could not be asked. */
  missingCapabilities: ClientCapabilities | undefined
  /** The newest progress in words. */
  status: string | undefined
  /** Who asks: what the newest request of the call says of it. */
  caller: McpClient
  /** Names its progress to the client of the newest request. */
  progressToken: string | number | undefined
  /**
   * Told of what changes what can be said about the call: how it stands, or only the words for it.
   */
  onUpdate: ((what: 'state' | 'words') => void) | undefined
  /** Counts the rounds of questions, so that each state can be used once. */
  round = 0
  #exchange: McpExchange | undefined
  #stopListening: () => void = () => undefined
  readonly cancellation = new Cancellation()
  #open: Map<string, PendingQuestion> | undefined
  #used: Set<string> | undefined
  #changed: (() => void) | undefined

  // Answers that came with the first request already, by key.
  readonly #early: RpcParams | undefined

  /** Begins; what `work` throws settles the call too. */
  constructor(
    exchange: McpExchange,
    params: RpcParams,
    work: (call: McpCall) => Promise<McpCallOutcome>,
  ) {
    this.caller = exchange.caller
    this.#early = isObject(params['inputResponses']) ? params['inputResponses'] : undefined
    this.attach(exchange, params)
    void work(this)
      .catch((error: unknown): McpCallOutcome => ({ error: toRpcError(error) }))
      .then((outcome) => {
        this.outcome = outcome
        this.#update()
      })
  }

  /**
   * From here on the work is done for this request: it hears of progress, and its end ends the
   * work.
   */
  attach(exchange: McpExchange, { _meta: meta }: RpcParams): void {
    this.detach()
    this.#exchange = exchange
    this.caller = exchange.caller
    const token = isObject(meta) ? meta['progressToken'] : undefined
    this.progressToken = typeof token === 'string' || typeof token === 'number' ? token : undefined
    const { cancellation } = exchange
    const cancel = (): void => this.cancellation.cancel(cancellation.reason!)
    if (cancellation.aborted) cancel()
    else this.#stopListening = cancellation.onCancel(cancel)
  }

  /** From here on nobody hears of it. */
  detach(): void {
    this.#exchange = undefined
    this.#stopListening()
  }

  notify(method: string, params: RpcParams): void {
    this.#exchange?.notify(method, params)
  }

  cancel(reason: string): void {
    this.cancellation.cancel(new ToolError('CANCELLED', reason))
  }

  /**
   * Asks the client and waits for its answer; rejects with ToolError when it cannot be asked or
   * does not want to answer.
   */
  async ask(question: ClientQuestion, signal: AbortSignal | Cancellation): Promise<unknown> {
    const { capability } = question
    if (!hasCapability(this.caller, capability)) {
      this.missingCapabilities = { ...this.missingCapabilities, [capability]: {} }
      throw new ToolError(
        'ANSWER_REQUIRED',
        `the client cannot be asked: it did not declare the capability '${capability}'`,
        { details: { capability } },
      )
    }
    if (this.caller.era === 'legacy') return this.#push(question, signal)
    if (signal.aborted) throw signal.reason as Error
    const key = this.#keyFor(question)
    const early = this.#readEarly(question, key)
    if (early) {
      if ('error' in early) throw early.error
      return early.value
    }
    return new Promise((resolve, reject) => {
      const open = (this.#open ??= new Map<string, PendingQuestion>())
      const stopListening = onAbort(signal, () => {
        open.delete(key)
        reject(signal.reason as Error)
        this.#update()
      })
      const close = (): void => {
        open.delete(key)
        stopListening()
      }
      open.set(key, {
        question,
        give: (value) => {
          close()
          resolve(value)
        },
        fail: (error) => {
          close()
          reject(error)
        },
      })
      this.#update()
    })
  }

  get waitsForAnswers(): boolean {
    return this.#open !== undefined && this.#open.size > 0
  }

  /** The open questions as the wire carries them. */
  inputRequests(): {
    readonly [key: string]: { readonly method: string; readonly params: RpcParams }
  } {
    return Object.fromEntries(
      [...(this.#open ?? [])].map(
        ([
          key,
          {
            question: { method, params },
          },
        ]) => [key, { method, params }],
      ),
    )
  }

  /**
   * Hands answers to the open questions; unknown keys are left alone. Throws RpcError for one that
   * cannot be read, and then takes none.
   */
  acceptAnswers(answers: RpcParams): void {
    const readings = [...(this.#open ?? [])].flatMap(([key, open]) =>
      Object.hasOwn(answers, key)
        ? [{ open, read: readClientAnswer(open.question, answers[key]) }]
        : [],
    )
    for (const { open, read } of readings) {
      if ('error' in read) open.fail(read.error)
      else open.give(read.value)
    }
    if (readings.length > 0) this.onUpdate?.('state')
  }

  /** Says what the work is at. */
  setStatus(status: string): void {
    this.status = status
    this.onUpdate?.('words')
  }

  /** Waits until the call is over or needs answers, or until `grace` milliseconds have passed. */
  turn(grace: number | undefined): Promise<WaitResult> {
    return new Promise((resolve) => {
      let gathering = false
      const timer = grace === undefined ? undefined : setTimeout(() => end('waited'), grace)
      const end = (turn: WaitResult): void => {
        clearTimeout(timer)
        this.#changed = undefined
        resolve(turn)
      }
      const look = (): void => {
        if (this.outcome) return end('settled')
        if (!this.waitsForAnswers || gathering) return
        gathering = true
        // Questions that a handler asks at the same time travel together.
        setImmediate(() =>
          setImmediate(() => {
            gathering = false
            if (this.#changed !== look) return
            if (this.outcome) end('settled')
            else if (this.waitsForAnswers) end('asked')
          }),
        )
      }
      this.#changed = look
      look()
    })
  }

  #update(): void {
    this.#changed?.()
    this.onUpdate?.('state')
  }

  async #push(question: ClientQuestion, signal: AbortSignal | Cancellation): Promise<unknown> {
    const exchange = this.#exchange
    if (!exchange?.request)
      throw new ToolError(
        'ANSWER_REQUIRED',
        'the client cannot be asked in the middle of this request: it has no session',
        { suggestion: 'Begin with initialize, and send its session id' },
      )
    try {
      return question.read(await exchange.request(question.method, question.params, signal))
    } catch (error) {
      if (error instanceof RpcError)
        throw new ToolError(
          'DEPENDENCY',
          `the client refused ${question.method}: ${error.message}`,
          { cause: error },
        )
      throw error
    }
  }

  // An answer that came before its question and cannot be read is no answer: the question is asked.
  #readEarly(
    question: ClientQuestion,
    key: string,
  ): ReturnType<typeof readClientAnswer> | undefined {
    if (this.round > 0 || !this.#early || !Object.hasOwn(this.#early, key)) return undefined
    try {
      return readClientAnswer(question, this.#early[key])
    } catch {
      return undefined
    }
  }

  // A key names one question for the whole life of the call.
  #keyFor({ key, method }: ClientQuestion): string {
    const used = (this.#used ??= new Set<string>())
    const base = key ?? method.split('/')[0]!
    let name = key ?? `${base}_1`
    for (let count = 2; used.has(name); count++) name = `${base}_${count}`
    used.add(name)
    return name
  }
}

function readClientAnswer(
  question: ClientQuestion,
  answer: unknown,
): { readonly value: unknown } | { readonly error: unknown } {
  try {
    return { value: question.read(answer) }
  } catch (error) {
    if (error instanceof RpcError) throw error
    return { error }
  }
}
