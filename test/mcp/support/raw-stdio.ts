import { StringDecoder } from 'node:string_decoder'
import { AS_LONG_AS_ITS_FILE, startProgram } from '../../support/run-program.ts'
import type { Ended, Running, RunOptions } from '../../support/run-program.ts'

export type Message = {
  readonly jsonrpc: '2.0'
  readonly id?: string | number
  readonly method?: string
  readonly params?: any
  readonly result?: any
  readonly error?: { readonly code: number; readonly message: string; readonly data?: any }
}

/** A server on two pipes, and everything it said; speaks JSON-RPC with no library between. */
export type RawStdio = {
  readonly program: Running
  readonly messages: readonly Message[]
  /** Lines that were no JSON-RPC message: there must be none. */
  readonly strays: readonly string[]
  write(line: string | Uint8Array): void
  /** Sends a request and waits for its answer. */
  ask(method: string, params?: object, id?: string | number): Promise<Message>
  /** The next message that fits, now or later. */
  heard(fits: (message: Message) => boolean): Promise<Message>
  /** Closes stdin and waits for the end. */
  end(): Promise<Ended>
}

const VERSION = '2026-07-28'

/** What a modern request carries. */
export function modern(params: object = {}, capabilities: object = {}, meta: object = {}): object {
  return {
    ...params,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': VERSION,
      'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1.0.0' },
      'io.modelcontextprotocol/clientCapabilities': capabilities,
      ...meta,
    },
  }
}

/** Starts a fixture as a stdio server. */
export function openRaw(
  fixture: string,
  args: readonly string[] = [],
  options: RunOptions = {},
): RawStdio {
  const program = startProgram(fixture, ['--serve-mcp', 'stdio', ...args], {
    input: 'open',
    longest: AS_LONG_AS_ITS_FILE,
    ...options,
  })
  const messages: Message[] = []
  const strays: string[] = []
  const listeners = new Set<() => void>()
  let rest: string[] = []
  const decoder = new StringDecoder('utf8')
  program.child.stdout.on('data', (chunk: Buffer) => {
    const [first = '', ...others] = decoder.write(chunk).split('\n')
    rest.push(first)
    // A long line comes in many pieces, which are put together once.
    if (others.length === 0) return
    const lines = [rest.join(''), ...others]
    rest = [lines.pop()!]
    for (const line of lines) {
      const message = parse(line)
      if (message) messages.push(message)
      else strays.push(line)
    }
    for (const listener of [...listeners]) listener()
  })
  let lastId = 0
  const raw: RawStdio = {
    program,
    messages,
    strays,
    write: (line) => program.write(typeof line === 'string' ? `${line}\n` : line),
    ask(method, params = {}, id = ++lastId) {
      raw.write(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
      return raw.heard((message) => message.id === id && message.method === undefined)
    },
    heard: (fits) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = messages.find(fits)
          if (!found) return
          listeners.delete(look)
          resolve(found)
        }
        listeners.add(look)
        look()
        program.ended.then(
          ({ status, stderr }) =>
            reject(
              new Error(
                `the server ended with ${status} before it said that\n${stderr.slice(-2000)}`,
              ),
            ),
          reject,
        )
      }),
    end() {
      program.closeStdin()
      return program.ended
    },
  }
  return raw
}

/** The handshake of an older client. */
export async function initialize(
  raw: RawStdio,
  capabilities: object = {},
  protocolVersion = '2025-11-25',
): Promise<Message> {
  const answer = await raw.ask('initialize', {
    protocolVersion,
    capabilities,
    clientInfo: { name: 'raw', version: '1.0.0' },
  })
  raw.write('{"jsonrpc":"2.0","method":"notifications/initialized"}')
  return answer
}

function parse(line: string): Message | undefined {
  try {
    const message = JSON.parse(line) as Message
    return message.jsonrpc === '2.0' ? message : undefined
  } catch {
    return undefined
  }
}
