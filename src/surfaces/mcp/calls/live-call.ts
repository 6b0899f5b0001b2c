import { Cancellation } from '../../../call/cancellation.ts'
import { onAbort } from '../../../call/on-abort.ts'
import { isObject } from '../../../contract/json.ts'
import { ToolError } from '../../../contract/tool-error.ts'
import type { Caller, ClientCapabilities, Exchange } from '../exchange.ts'
import { can } from '../exchange.ts'
import type { Question } from '../questions/question.ts'
import type { Params, RpcErrorObject } from '../wire/messages.ts'
import { RpcError } from '../wire/messages.ts'
import { rpcErrorOf } from '../wire/rpc-error-of.ts'

/** How the work on a request ended. */
export type Settled = { readonly result: object } | { readonly error: RpcErrorObject }

/** Why waiting for a call ended: it is over, it needs answers, or the time that a client waits inline has passed. */
export type Turn = 'settled' | 'asked' | 'waited'

type Open = { readonly question: Question; give(value: unknown): void; fail(error: unknown): void }

/** The work on one request, which may outlive it: while a modern client gathers answers, and as a task. */
export class LiveCall {
  settled: Settled | undefined
  /** What the client would have needed to declare; set when a question could not be asked. */
  missing: ClientCapabilities | undefined
  /** The newest progress in words. */
  status: string | undefined
  /** Who asks: what the newest request of the call says of it. */
  caller: Caller
  /** Names its progress to the client of the newest request. */
  progressToken: string | number | undefined
  /** Told of what changes what can be said about the call: how it stands, or only the words for it. */
  onUpdate: ((what: 'state' | 'words') => void) | undefined
  /** Counts the rounds of questions, so that each state can be used once. */
  round = 0
  #exchange: Exchange | undefined
  #stopListening: () => void = () => undefined
  readonly cancellation = new Cancellation()
  #open: Map<string, Open> | undefined
  #used: Set<string> | undefined
  #changed: (() => void) | undefined

  // Answers that came with the first request already, by key.
  readonly #early: Params | undefined

  /** Begins; what `work` throws settles the call too. */
  constructor(exchange: Exchange, params: Params, work: (call: LiveCall) => Promise<Settled>) {
    this.caller = exchange.caller
    this.#early = isObject(params['inputResponses']) ? params['inputResponses'] : undefined
    this.attach(exchange, params)
    void work(this)
      .catch((error: unknown): Settled => ({ error: rpcErrorOf(error) }))
      .then((settled) => {
        this.settled = settled
        this.#update()
      })
  }

  /** From here on the work is done for this request: it hears of progress, and its end ends the work. */
  attach(exchange: Exchange, { _meta: meta }: Params): void {
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

  notify(method: string, params: Params): void {
    this.#exchange?.notify(method, params)
  }

  cancel(reason: string): void {
    this.cancellation.cancel(new ToolError('CANCELLED', reason))
  }

  /** Asks the client and waits for its answer; rejects with ToolError when it cannot be asked or does not want to answer. */
  async ask(question: Question, signal: AbortSignal | Cancellation): Promise<unknown> {
    const { capability } = question
    if (!can(this.caller, capability)) {
      this.missing = { ...this.missing, [capability]: {} }
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
      const open = (this.#open ??= new Map<string, Open>())
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
    readonly [key: string]: { readonly method: string; readonly params: Params }
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

  /** Hands answers to the open questions; unknown keys are left alone. Throws RpcError for one that cannot be read, and then takes none. */
  give(answers: Params): void {
    const readings = [...(this.#open ?? [])].flatMap(([key, open]) =>
      Object.hasOwn(answers, key) ? [{ open, read: readAnswer(open.question, answers[key]) }] : [],
    )
    for (const { open, read } of readings) {
      if ('error' in read) open.fail(read.error)
      else open.give(read.value)
    }
    if (readings.length > 0) this.onUpdate?.('state')
  }

  /** Says what the work is at. */
  say(status: string): void {
    this.status = status
    this.onUpdate?.('words')
  }

  /** Waits until the call is over or needs answers, or until `grace` milliseconds have passed. */
  turn(grace: number | undefined): Promise<Turn> {
    return new Promise((resolve) => {
      let gathering = false
      const timer = grace === undefined ? undefined : setTimeout(() => end('waited'), grace)
      const end = (turn: Turn): void => {
        clearTimeout(timer)
        this.#changed = undefined
        resolve(turn)
      }
      const look = (): void => {
        if (this.settled) return end('settled')
        if (!this.waitsForAnswers || gathering) return
        gathering = true
        // Questions that a handler asks at the same time travel together.
        setImmediate(() =>
          setImmediate(() => {
            gathering = false
            if (this.#changed !== look) return
            if (this.settled) end('settled')
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

  async #push(question: Question, signal: AbortSignal | Cancellation): Promise<unknown> {
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
  #readEarly(question: Question, key: string): ReturnType<typeof readAnswer> | undefined {
    if (this.round > 0 || !this.#early || !Object.hasOwn(this.#early, key)) return undefined
    try {
      return readAnswer(question, this.#early[key])
    } catch {
      return undefined
    }
  }

  // A key names one question for the whole life of the call.
  #keyFor({ key, method }: Question): string {
    const used = (this.#used ??= new Set<string>())
    const base = key ?? method.split('/')[0]!
    let name = key ?? `${base}_1`
    for (let count = 2; used.has(name); count++) name = `${base}_${count}`
    used.add(name)
    return name
  }
}

function readAnswer(
  question: Question,
  answer: unknown,
): { readonly value: unknown } | { readonly error: unknown } {
  try {
    return { value: question.read(answer) }
  } catch (error) {
    if (error instanceof RpcError) throw error
    return { error }
  }
}
