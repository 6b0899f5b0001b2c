import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { isObject } from '../../contract/json.ts'
import { shorten } from '../../contract/shorten.ts'
import type { ChildEnd } from '../../process/child-type.ts'
import type { OpenChild } from '../../process/open-child.ts'
import type { StdioSettings } from './settings.ts'

const LONGEST_MESSAGE = 16 * 1024 * 1024
const MOST_GARBAGE = 256 * 1024
const TAIL_LINES = 10
const FAREWELL = 1000
const GRACE = 500

/** A server that is our child, talked to in lines. It leads a group of its own, and nothing of it is left after `close`. */
export class StdioTransport implements Transport {
  declare onclose?: () => void
  declare onerror?: (error: Error) => void
  declare onmessage?: Transport['onmessage'] & {}
  // The SDK knows a transport over pipes by `stderr` and `pid`; on such a one silence means an older server.
  readonly stderr = null
  readonly #settings: StdioSettings
  readonly #tail: string[] = []
  #child: OpenChild | undefined
  #end: ChildEnd | undefined
  #garbage = 0
  #firstGarbage: string | undefined

  constructor(settings: StdioSettings) {
    this.#settings = settings
  }

  get pid(): number | null {
    return this.#child?.pid ?? null
  }

  async start(): Promise<void> {
    const { openChild } = await import('../../process/open-child.ts')
    const child = await openChild({
      ...this.#settings,
      grace: GRACE,
      maxLine: LONGEST_MESSAGE,
      maxStderr: 0,
      onLine: (line) => this.#read(line),
      onErrorLine: (line) => this.#remember(line),
    })
    this.#child = child
    if (child.pid === undefined)
      throw (this.#end = await child.end).problem ?? new Error('it could not be started')
    void child.end.then((end) => {
      this.#end = end
      this.onclose?.()
    })
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!(await this.#child?.write(JSON.stringify(message))))
      throw new Error('the server takes nothing any more')
  }

  /** Tells the server that nothing more will come, and ends it where it does not end by itself. */
  async close(): Promise<void> {
    const child = this.#child
    if (!child) return
    child.closeInput()
    const timer = setTimeout(() => child.kill(), FAREWELL)
    await child.end
    clearTimeout(timer)
  }

  /** Whether the server keeps our own process alive. */
  hold(alive: boolean): void {
    this.#child?.hold(alive)
  }

  /** Why the server is over, or what it said instead of answering. */
  describeEnd(): string | undefined {
    const said =
      this.#firstGarbage === undefined
        ? []
        : [
            `it writes text to stdout that is no message: ${JSON.stringify(shorten(this.#firstGarbage, 100))}`,
          ]
    const end = this.#end === undefined ? [] : [describe(this.#end, this.#garbage > MOST_GARBAGE)]
    return end.length + said.length === 0 ? undefined : [...end, ...said].join('; ')
  }

  /** What the server wrote last to stderr. */
  errorTail(): string {
    return this.#tail.join('\n')
  }

  /** True where the server was ended because of what it wrote. */
  get overflowed(): boolean {
    return this.#end?.reason === 'line-limit' || this.#garbage > MOST_GARBAGE
  }

  #read(line: string): void {
    if (line.trim() === '') return
    const messages = parse(line)
    if (!messages) return this.#refuse(line)
    for (const message of messages) {
      try {
        this.onmessage?.(message as JSONRPCMessage)
      } catch (error) {
        this.onerror?.(error as Error)
      }
    }
  }

  #refuse(line: string): void {
    this.#firstGarbage ??= line
    this.#garbage += line.length + 1
    if (this.#garbage > MOST_GARBAGE) this.#child?.kill()
    this.onerror?.(new Error(`a line of stdout is no message: ${shorten(line, 100)}`))
  }

  #remember(line: string): void {
    this.#tail.push(shorten(line, 500))
    if (this.#tail.length > TAIL_LINES) this.#tail.shift()
  }
}

function parse(line: string): readonly object[] | undefined {
  try {
    const value: unknown = JSON.parse(line)
    const messages: readonly unknown[] = Array.isArray(value) ? value : [value]
    return messages.every(isObject) ? messages : undefined
  } catch {
    return undefined
  }
}

function describe({ reason, status, signal }: ChildEnd, flooded: boolean): string {
  if (reason === 'line-limit')
    return `it sent a message of more than ${LONGEST_MESSAGE / 1024 / 1024} MiB and was ended`
  if (flooded) return 'it flooded stdout and was ended'
  if (reason === 'cancelled') return 'it was ended'
  return signal === null ? `it exited with status ${status}` : `it was killed by ${signal}`
}
