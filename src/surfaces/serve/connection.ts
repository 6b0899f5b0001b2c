import { isUtf8 } from 'node:buffer'
import type { ServedCallOptions } from '../../call/options.ts'
import { isObject } from '../../contract/json.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { ServeId } from '../../contract/serve-protocol.ts'
import { shorten } from '../../contract/shorten.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { toToolError } from '../../call/failure.ts'
import type { Servable } from '../../call/servable.ts'
import { Until } from '../wire/until.ts'
import type { Writer } from '../wire/writer.ts'
import { readOptions } from './read-options.ts'
import type { Surroundings } from './read-options.ts'
import { Request } from './request.ts'

type Line = { readonly [field: string]: unknown }
type Work = (set: Servable, line: Line, options: ServedCallOptions) => Promise<Outcome>

// What a line asks for, by the field that names the thing.
const WORK: { readonly [field: string]: Work } = {
  call: (set, { call, input }, options) => set.call(call as string, input, options),
  resource: (set, { resource }, options) => set.readResource(resource as string, options),
  prompt: (set, { prompt, input }, options) => set.renderPrompt(prompt as string, input, options),
}
const FIELDS = Object.keys(WORK)

/** Whoever calls, behind stdin and stdout. */
export class Connection {
  readonly #requests = new Map<ServeId, Request>()
  readonly #until = new Until()
  #deaf = false

  constructor(
    readonly set: Servable,
    readonly writer: Writer,
    readonly surroundings: Surroundings & { look(outcome: Outcome): void },
  ) {}

  /** Requests that are being answered. */
  get running(): number {
    return this.#requests.size
  }

  /** Takes one line; what cannot be understood is answered with an error, and changes nothing else. */
  take(bytes: Buffer | 'too long'): void {
    const line = read(bytes)
    if (typeof line === 'string') return this.#complain(line)
    if (Object.hasOwn(line, 'ping'))
      return typeof line['ping'] === 'number'
        ? this.writer.write(`{"pong":${line['ping']}}`)
        : this.#complain('ping must be a number')
    const id = line['id']
    if (typeof id !== 'string' && typeof id !== 'number')
      return this.#complain('it needs an id, a number or a text')
    const field = FIELDS.find((candidate) => Object.hasOwn(line, candidate))
    if (field !== undefined) return this.#work(id, field, line)
    if (line['cancel'] === true)
      return this.#requests.get(id)?.cancel('the caller cancelled the call')
    if (Object.hasOwn(line, 'answer')) return this.#requests.get(id)?.take(line['answer'])
    this.#complain(
      `it asks for nothing: it has none of the fields ${[...FIELDS, 'cancel', 'answer', 'ping'].join(', ')}`,
    )
  }

  /** From here on nothing more comes: open questions and new ones have nobody to answer. */
  deaf(): void {
    this.#deaf = true
    for (const request of this.#requests.values()) request.deafen()
  }

  cancelAll(reason: string): void {
    for (const request of this.#requests.values()) request.cancel(reason)
  }

  /** Resolves when everything is answered, after a time, or when the signal aborts. */
  idle(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return this.#until.wait(() => this.running === 0, milliseconds, signal)
  }

  #work(id: ServeId, field: string, line: Line): void {
    if (this.#requests.has(id)) return this.#complain(`the id ${JSON.stringify(id)} is in use`)
    const request = new Request(id, this.writer)
    request.deaf = this.#deaf
    this.#requests.set(id, request)
    const end = (outcome: Outcome): void => {
      this.surroundings.look(outcome)
      request.end(outcome)
      this.#requests.delete(id)
      this.#until.tell()
    }
    try {
      if (typeof line[field] !== 'string')
        throw new ToolError('INVALID_INPUT', `${field} must be a text`, { field })
      const options = request.options(readOptions(line['options'], this.surroundings))
      WORK[field]!(this.set, line, options).then(end, (error: unknown) =>
        end(this.#failure(error, String(line[field]))),
      )
    } catch (error) {
      end(this.#failure(error, String(line[field])))
    }
  }

  #failure(error: unknown, what: string): Outcome {
    return {
      ok: false,
      status: 'error',
      error: toToolError(error).toObject(),
      meta: {
        tool: `${this.set.name}.${shorten(what, 64)}`,
        version: this.set.version,
        duration_ms: 0,
      },
    }
  }

  #complain(problem: string): void {
    this.writer.write(
      JSON.stringify({
        type: 'error',
        error: new ToolError('INVALID_INPUT', `the line was not understood: ${problem}`).toObject(),
      }),
    )
  }
}

// A text says what is wrong with the line.
function read(bytes: Buffer | 'too long'): Line | string {
  if (bytes === 'too long') return 'it is too long'
  if (!isUtf8(bytes)) return 'it is not valid UTF-8'
  try {
    const line: unknown = JSON.parse(bytes.toString('utf8'))
    return isObject(line) ? line : 'it is not an object'
  } catch (error) {
    return `it is not JSON: ${(error as Error).message}`
  }
}
