import type { ByteSource, Io, TextSink } from '../contract/io.ts'
import { host } from '../call/host.ts'

/** What stdin carries: a text, bytes, or chunks of either. */
export type StdinContent = string | Uint8Array | AsyncIterable<string | Uint8Array>

export type FakeProcess = {
  readonly stdin?: StdinContent | undefined
  readonly env?: Io['env'] | undefined
  readonly cwd?: string | undefined
  readonly tty?: boolean | { readonly columns?: number } | undefined
  /** Lines that come after `stdin`, each when it is asked for. */
  readonly lines?: () => AsyncIterable<string>
}

/** An Io that is all in memory, and what was written to it. */
export type FakeIo = { readonly io: Io; readonly stdout: Captured; readonly stderr: Captured }

/** A stream that keeps what it gets. */
export type Captured = TextSink & { readonly text: string }

/** A process that is not there: an empty environment, an empty stdin, and streams that are kept. */
export function fakeIo({
  stdin,
  env = {},
  cwd = host.cwd(),
  tty = false,
  lines = noLines,
}: FakeProcess): FakeIo {
  const isTTY = tty !== false
  const columns = (typeof tty === 'object' ? tty.columns : undefined) ?? 80
  const stdout = capture(isTTY, columns)
  const stderr = capture(isTTY, columns)
  return {
    io: { stdin: source(isTTY, stdin, lines), stdout, stderr, env, cwd, now: Date.now },
    stdout,
    stderr,
  }
}

function capture(isTTY: boolean, columns: number): Captured {
  let text = ''
  const write = (more: string): void => void (text += more)
  return {
    write,
    send: async (more) => write(more),
    flush: async () => undefined,
    isTTY,
    columns,
    get text() {
      return text
    },
  }
}

function source(
  isTTY: boolean,
  content: StdinContent | undefined,
  lines: () => AsyncIterable<string>,
): ByteSource {
  let taken = false
  let close = (): void => undefined
  const closed = new Promise<'closed'>((resolve) => {
    close = () => resolve('closed')
  })
  return {
    isTTY,
    get taken() {
      return taken
    },
    bytes() {
      if (taken) throw new Error('stdin has two readers')
      taken = true
      return until(closed, chunks(content, lines))
    },
    close: () => close(),
  }
}

async function* chunks(
  content: StdinContent = '',
  lines: () => AsyncIterable<string>,
): AsyncGenerator<Uint8Array> {
  const given = typeof content === 'string' || content instanceof Uint8Array ? [content] : content
  for await (const chunk of given) if (chunk.length > 0) yield Buffer.from(chunk as Uint8Array)
  for await (const line of lines()) yield Buffer.from(`${line}\n`)
}

async function* noLines(): AsyncGenerator<string> {
  /* nobody types */
}

// A reader that waits for a chunk is let go as soon as stdin is closed.
async function* until<T>(closed: Promise<'closed'>, from: AsyncGenerator<T>): AsyncGenerator<T> {
  for (;;) {
    const step = await Promise.race([closed, from.next()])
    if (step === 'closed' || step.done) return
    yield step.value
  }
}
