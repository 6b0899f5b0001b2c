import { onCancelled } from '../../call/on-cancelled.ts'
import { readOutcome } from '../../contract/dialects/read-outcome.ts'
import type { JsonObject } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { ServeAnswer } from '../../contract/serve-protocol.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { answerQuestion } from './questions.ts'
import { tellLine } from './tell-line.ts'
import type { WarmContext } from './warm-type.ts'

/** What an exchange needs of the program that it is with. */
export type Line = {
  /** Sends a line about this exchange. */
  say(fields: string): void
  /** Nobody waits for the result any more; the program is told. */
  abandoned(): void
}

/** One request and all that is said about it until its result. */
export class Exchange {
  readonly result: Promise<Outcome>
  /** The request was handed to the program. */
  sent = false
  #settle!: (outcome: Outcome) => void
  #refuse!: (error: Error) => void
  #stopListening: () => void = () => undefined
  /** Nobody waits for it any more. */
  over = false

  constructor(
    readonly what: string,
    readonly ctx: WarmContext,
    readonly line: Line,
  ) {
    this.result = new Promise((settle, refuse) => {
      this.#settle = settle
      this.#refuse = refuse
    })
    this.#stopListening = onCancelled(ctx, (reason) => {
      this.fail(reason)
      line.abandoned()
    })
  }

  /** Takes a line of the program about this exchange; true when it was the last one. */
  take(line: JsonObject): boolean {
    if (line['type'] === 'result') {
      this.#end(line)
      return true
    }
    if (this.over) return false
    if (line['type'] === 'question') void this.#ask(line['question'])
    else tellLine(line, this.ctx)
    return false
  }

  fail(error: Error): void {
    if (this.over) return
    this.#close()
    this.#refuse(error)
  }

  #end(line: JsonObject): void {
    if (this.over) return
    this.#close()
    const outcome = readResult(line, this.what)
    if (outcome) this.#settle(outcome)
    else
      this.#refuse(
        new ToolError('DEPENDENCY', `${this.what}: the program gave something that is no result`),
      )
  }

  async #ask(question: unknown): Promise<void> {
    const answer: ServeAnswer | undefined =
      isObject(question) && typeof question['id'] === 'string'
        ? await answerQuestion(question, this.ctx)
        : undefined
    if (answer && !this.over) this.line.say(`"answer":${JSON.stringify(answer)}`)
  }

  #close(): void {
    this.over = true
    this.#stopListening()
  }
}

// Most results are plain: they are taken as they are.
function readResult(line: JsonObject, what: string): Outcome | undefined {
  const { meta } = line
  if (
    line['ok'] === true &&
    line['status'] === 'success' &&
    isObject(meta) &&
    Object.hasOwn(line, 'result') &&
    !RARE.some((field) => Object.hasOwn(line, field)) &&
    !Object.hasOwn(meta, 'artifacts')
  )
    return line as unknown as Outcome
  const { id: _id, ...document } = line
  const outcome = readOutcome(document, { tool: what })
  if (!outcome?.meta.artifacts) return outcome
  // They were told when they were made.
  const { artifacts: _told, ...rest } = outcome.meta
  return { ...outcome, meta: rest }
}

const RARE = ['message', 'hidden', 'content']
