/**
 * Runs the command line of a toolset inside the process of a test: everything but the process itself is real.
 *
 * This folder is the public entry `toolable/testing`. `callTool` calls a tool directly, `runCli` goes through its command line; both take answers and completions by value (answers.ts).
 */

import { main } from '../cli/main.ts'
import { toolset } from '../cli/toolset.ts'
import type { CommandHost, OutcomeForm, Toolset } from '../cli/types.ts'
import { host } from '../core/host.ts'
import { onAbort, toCancelledError } from '../core/lifecycle.ts'
import type { AnyTool } from '../core/tool.ts'
import { isTool } from '../core/tool.ts'
import type { ToolEvent } from '../protocol/events.ts'
import type { ByteSource, Io, TextSink } from '../protocol/io.ts'
import type { Outcome } from '../protocol/outcome.ts'
import type { Answers, Samples } from './answers.ts'
import { createStdinResponder, guardTestCallbacks } from './answers.ts'
import { withStrayOutput } from './stray-output.ts'

/** The process around a command line in a test. */
export type RunCliOptions = {
  /** What stdin carries; empty by default. */
  readonly stdin?: StdinContent
  /** The whole environment; empty by default, so that no agent and no CI is recognised. */
  readonly env?: { readonly [name: string]: string | undefined }
  /** Default: the directory of the process. */
  readonly cwd?: string
  /**
   * A person sits there: stdin, stdout and stderr are terminals, of 80 columns unless told
   * otherwise.
   */
  readonly tty?: boolean | { readonly columns?: number }
  /** Answers to the tool's questions: typed at a terminal, as JSON lines with `--session`. */
  readonly answers?: Answers
  /** Completions for the tool's prompts, as JSON lines on stdin. */
  readonly samples?: Samples
  /** Cancels the call, as a signal to the process does. */
  readonly signal?: AbortSignal
}

/** How a command line ended and all that it said. */
export type CliResult = {
  readonly exitCode: number
  readonly stdout: string
  /** Also what handlers printed, whichever stream they meant. */
  readonly stderr: string
  /** The outcome that was printed, in any form; undefined for help and documents. */
  readonly outcome: Outcome | undefined
  /** What the tool reported while it worked. */
  readonly events: readonly ToolEvent[]
  /** In which form the outcome was printed; `asked`: questions precede it, one a line. */
  readonly form: (OutcomeForm & { readonly asked: boolean }) | undefined
}

/**
 * Runs the command line of a toolset in this process. Throws only what a function of the test
 * threw.
 */
export async function runCli(
  program: Toolset | AnyTool,
  argv: readonly string[] = [],
  options: RunCliOptions = {},
): Promise<CliResult> {
  if (!isTool(program) && typeof (program as Partial<Toolset> | undefined)?.find !== 'function')
    throw new TypeError('runCli() needs a toolset or a tool')
  const functions = guardTestCallbacks()
  const typist = createStdinResponder(options.answers, options.samples, functions)
  const { io, stdout, stderr } = createFakeIo({ ...options, lines: typist.lines })
  const controller = new AbortController()
  // As a process does it, for any reason that the test gave.
  const cancel = (): void => controller.abort(toCancelledError(options.signal?.reason))
  if (options.signal?.aborted) cancel()
  const stopListening = options.signal ? onAbort(options.signal, cancel) : () => undefined
  const events: ToolEvent[] = []
  let asked = false
  let printed: { readonly outcome: Outcome; readonly form: OutcomeForm } | undefined
  const host: CommandHost = {
    signal: controller.signal,
    started: { execPath: 'node', execArgv: [], script: undefined },
    // The process belongs to the test; stray output is taken care of for this run alone.
    prepareForTools: () => undefined,
    makeToolset: toolset,
    observer: {
      onEvent: (event) => void events.push(event),
      onQuestion(question, how) {
        asked ||= how === 'line'
        typist.onQuestion(question, how)
      },
      onOutcome: (outcome, form) => {
        printed = { outcome, form }
      },
    },
  }
  const set = isTool(program) ? toolset(program) : program
  let exitCode: number
  try {
    exitCode = await withStrayOutput(stderr.write, () => main(set as Toolset, argv, io, host))
  } finally {
    io.stdin.close()
    stopListening()
  }
  functions.rethrow()
  return {
    exitCode,
    stdout: stdout.text,
    stderr: stderr.text,
    outcome: printed?.outcome,
    events,
    form: printed && { ...printed.form, asked },
  }
}

/** What stdin carries: a text, bytes, or chunks of either. */
type StdinContent = string | Uint8Array | AsyncIterable<string | Uint8Array>

type FakeIoOptions = {
  readonly stdin?: StdinContent | undefined
  readonly env?: Io['env'] | undefined
  readonly cwd?: string | undefined
  readonly tty?: boolean | { readonly columns?: number } | undefined
  /** Lines that come after `stdin`, each when it is asked for. */
  readonly lines?: () => AsyncIterable<string>
}

/** An Io that is all in memory, and what was written to it. */
type FakeIo = { readonly io: Io; readonly stdout: CapturedSink; readonly stderr: CapturedSink }

/** A stream that keeps what it gets. */
type CapturedSink = TextSink & { readonly text: string }

/** A process that is not there: an empty environment, an empty stdin, and streams that are kept. */
export function createFakeIo({
  stdin,
  env = {},
  cwd = host.cwd(),
  tty = false,
  lines = noLines,
}: FakeIoOptions): FakeIo {
  const isTTY = tty !== false
  const columns = (typeof tty === 'object' ? tty.columns : undefined) ?? 80
  const stdout = createCapturedSink(isTTY, columns)
  const stderr = createCapturedSink(isTTY, columns)
  return {
    io: { stdin: createStdin(isTTY, stdin, lines), stdout, stderr, env, cwd, now: Date.now },
    stdout,
    stderr,
  }
}

function createCapturedSink(isTTY: boolean, columns: number): CapturedSink {
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

function createStdin(
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
      return readUntilClosed(closed, readChunks(content, lines))
    },
    close: () => close(),
  }
}

async function* readChunks(
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
async function* readUntilClosed<T>(
  closed: Promise<'closed'>,
  from: AsyncGenerator<T>,
): AsyncGenerator<T> {
  for (;;) {
    const step = await Promise.race([closed, from.next()])
    if (step === 'closed' || step.done) return
    yield step.value
  }
}
