import { StringDecoder } from 'node:string_decoder'
import { AS_LONG_AS_ITS_FILE, startProgram } from './run-program.ts'
import type { Ended, Running, RunOptions } from './run-program.ts'

/** A program that serves calls by lines, and everything it said. */
export type Served = {
  readonly program: Running
  readonly lines: readonly any[]
  /** Sends a line; an object as JSON. */
  send(line: object | string | Uint8Array): void
  /** Sends a request and waits for its result. */
  ask(request: { readonly id: string | number; readonly [field: string]: unknown }): Promise<any>
  /** The next line that fits, now or later. */
  heard(fits: (line: any) => boolean): Promise<any>
  /** Closes stdin and waits for the end. */
  end(): Promise<Ended>
}

/** Starts a fixture with `--serve`. A line of it that is not JSON is an error. */
export function openServed(
  fixture: string,
  args: readonly string[] = [],
  options: RunOptions = {},
): Served {
  const program = startProgram(fixture, [...args, '--serve'], {
    input: 'open',
    longest: AS_LONG_AS_ITS_FILE,
    ...options,
  })
  const lines: any[] = []
  const listeners = new Set<() => void>()
  const decoder = new StringDecoder('utf8')
  let rest = ''
  program.child.stdout.on('data', (chunk: Buffer) => {
    const parts = (rest + decoder.write(chunk)).split('\n')
    rest = parts.pop()!
    lines.push(...parts.map((part) => JSON.parse(part)))
    for (const listener of [...listeners]) listener()
  })
  const served: Served = {
    program,
    lines,
    send: (line) =>
      program.write(
        line instanceof Uint8Array
          ? line
          : `${typeof line === 'string' ? line : JSON.stringify(line)}\n`,
      ),
    ask(request) {
      served.send(request)
      return served.heard((line) => line.id === request.id && line.type === 'result')
    },
    heard: (fits) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = lines.find(fits)
          if (!found) return
          listeners.delete(look)
          resolve(found)
        }
        listeners.add(look)
        look()
        program.ended.then(
          ({ status, stderr }) =>
            reject(new Error(`ended with ${status} before it said that\n${stderr.slice(-2000)}`)),
          reject,
        )
      }),
    end() {
      program.closeStdin()
      return program.ended
    },
  }
  return served
}
