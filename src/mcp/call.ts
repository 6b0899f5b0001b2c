/**
 * The work on one request. It may outlive the request: while a client gathers answers, and as a
 * task.
 */

import { Cancellation } from '../core/call.ts'
import { onAbort } from '../core/lifecycle.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { isObject } from '../util/values.ts'
import type { ClientQuestion } from './client-questions.ts'
import type {
  ClientCapabilities,
  McpClient,
  McpExchange,
  RpcErrorObject,
  RpcParams,
} from './protocol.ts'
import { RpcError, toRpcError } from './protocol.ts'

/** How the work on a request ended. */
export type McpCallOutcome = { readonly result: object } | { readonly error: RpcErrorObject }

/** Why waiting for a call ended: it is over, it needs answers, or the client waits no longer. */
type WaitEnd = 'settled' | 'asked' | 'timed out'

type ReadAnswer = { readonly value: unknown } | { readonly error: unknown }

type PendingQuestion = { readonly question: ClientQuestion; settle(answer: ReadAnswer): void }

/**
 * The work on one request, which may outlive it: while a modern client gathers answers, and as a
 * task.
 */
export class McpCall {
  outcome: McpCallOutcome | undefined
  /** What the client would have needed to declare; set when a question could not be asked. */
  missingCapabilities: ClientCapabilities | undefined
  /** The newest progress message. */
  status: string | undefined
  /** The client and the metadata of the newest request of the call. */
  client: McpClient
  meta: RpcParams | undefined
  /** Called when the state of the call changes, or only its status message. */
  onUpdate: ((what: 'state' | 'status') => void) | undefined
  /** Counts the rounds of questions, so that each state can be used once. */
  round = 0
  readonly cancellation = new Cancellation()
  #exchange: McpExchange | undefined
  #stopListening: (() => void) | undefined
  #open: Map<string, PendingQuestion> | undefined
  #usedKeys: Set<string> | undefined
  #onChange: (() => void) | undefined

  /** Begins; what `work` throws settles the call too. */
  constructor(
    exchange: McpExchange,
    readonly params: RpcParams,
    work: (call: McpCall) => Promise<McpCallOutcome>,
  ) {
    this.client = exchange.client
    this.attach(exchange)
    void work(this)
      .catch((error: unknown): McpCallOutcome => ({ error: toRpcError(error) }))
      .then((outcome) => {
        this.outcome = outcome
        this.#update()
      })
  }

  /** From here on the work is done for this request: it gets the progress, and may cancel. */
  attach(exchange: McpExchange): void {
    this.detach()
    this.#exchange = exchange
    this.client = exchange.client
    this.meta = exchange.meta
    const { cancellation } = exchange
    const cancel = (): void => this.cancellation.cancel(cancellation.reason!)
    if (cancellation.reason) cancel()
    else this.#stopListening = cancellation.onCancel(cancel)
  }

  /** From here on the work belongs to no request. */
  detach(): void {
    this.#exchange = undefined
    this.#stopListening?.()
    this.#stopListening = undefined
  }

  /** Names the progress to the client of the newest request. */
  get progressToken(): string | number | undefined {
    const token = this.meta?.['progressToken']
    return typeof token === 'string' || typeof token === 'number' ? token : undefined
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
    if (!this.client.supports[capability]) {
      this.missingCapabilities = { ...this.missingCapabilities, [capability]: {} }
      throw new ToolError(
        'ANSWER_REQUIRED',
        `the client cannot be asked: it did not declare the capability '${capability}'`,
        { details: { capability } },
      )
    }
    if (this.client.era === 'legacy') return this.#push(question, signal)
    if (signal.aborted) throw signal.reason as Error
    const key = this.#createKey(question)
    const early = this.#readEarlyAnswer(question, key)
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
      const settle = (answer: ReadAnswer): void => {
        open.delete(key)
        stopListening()
        if ('error' in answer) reject(answer.error)
        else resolve(answer.value)
      }
      open.set(key, { question, settle })
      this.#update()
    })
  }

  get waitsForAnswers(): boolean {
    return this.#open !== undefined && this.#open.size > 0
  }

  /** The open questions as the wire carries them. */
  listInputRequests(): { readonly [key: string]: Pick<ClientQuestion, 'method' | 'params'> } {
    return Object.fromEntries(
      Array.from(this.#open ?? [], ([key, { question }]) => {
        const { method, params } = question
        return [key, { method, params }]
      }),
    )
  }

  /**
   * Hands answers to the open questions; unknown keys are ignored. Throws RpcError for one that
   * cannot be read, and then takes none.
   */
  acceptAnswers(answers: RpcParams): void {
    const answered = [...(this.#open ?? [])]
      .filter(([key]) => Object.hasOwn(answers, key))
      .map(([key, { question, settle }]) => ({
        settle,
        answer: readAnswer(question, answers[key]),
      }))
    for (const { settle, answer } of answered) settle(answer)
    if (answered.length > 0) this.onUpdate?.('state')
  }

  /** Sets the message about what the work is doing. */
  setStatus(status: string): void {
    this.status = status
    this.onUpdate?.('status')
  }

  /** Waits until the call is over or needs answers, or for `timeoutMs`. */
  wait(timeoutMs: number | undefined): Promise<WaitEnd> {
    return new Promise((resolve) => {
      let isGathering = false
      const timer =
        timeoutMs === undefined ? undefined : setTimeout(() => end('timed out'), timeoutMs)
      const end = (reason: WaitEnd): void => {
        clearTimeout(timer)
        this.#onChange = undefined
        resolve(reason)
      }
      const check = (): void => {
        if (this.outcome) return end('settled')
        if (!this.waitsForAnswers || isGathering) return
        isGathering = true
        // Questions that a handler asks at the same time travel together.
        setImmediate(() =>
          setImmediate(() => {
            isGathering = false
            if (this.#onChange !== check) return
            if (this.outcome) end('settled')
            else if (this.waitsForAnswers) end('asked')
          }),
        )
      }
      this.#onChange = check
      check()
    })
  }

  #update(): void {
    this.#onChange?.()
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

  // Answers may come with the first request. One that cannot be read is none: the question is asked.
  #readEarlyAnswer(question: ClientQuestion, key: string): ReadAnswer | undefined {
    const answers = this.params['inputResponses']
    if (this.round > 0 || !isObject(answers) || !Object.hasOwn(answers, key)) return undefined
    try {
      return readAnswer(question, answers[key])
    } catch {
      return undefined
    }
  }

  // A key names one question for the whole life of the call.
  #createKey({ key, method }: ClientQuestion): string {
    const used = (this.#usedKeys ??= new Set<string>())
    const base = key ?? method.split('/')[0]!
    let name = key ?? `${base}_1`
    for (let count = 2; used.has(name); count++) name = `${base}_${count}`
    used.add(name)
    return name
  }
}

function readAnswer(question: ClientQuestion, answer: unknown): ReadAnswer {
  try {
    return { value: question.read(answer) }
  } catch (error) {
    if (error instanceof RpcError) throw error
    return { error }
  }
}
