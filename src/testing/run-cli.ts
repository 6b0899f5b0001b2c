import type { ToolEvent } from '../contract/events.ts'
import type { Outcome } from '../contract/outcome.ts'
import { onAbort } from '../call/on-abort.ts'
import { cancelled } from '../call/running.ts'
import { isTool } from '../call/tool.ts'
import type { AnyTool } from '../call/tool.ts'
import { main } from '../surfaces/cli/main.ts'
import type { Host } from '../surfaces/cli/host.ts'
import type { PrintedForm } from '../surfaces/cli/observer.ts'
import { toolset } from '../surfaces/toolset.ts'
import type { Toolset } from '../surfaces/toolset-type.ts'
import { lookAfterFunctions } from './answers.ts'
import type { Answers, Samples } from './answers.ts'
import { fakeIo } from './fake-io.ts'
import type { StdinContent } from './fake-io.ts'
import { withStrayOutput } from './stray-output.ts'
import { createTypist } from './typist.ts'

/** What stands around a command line in a test. */
export type RunCliOptions = {
  /** What stdin carries; empty by default. */
  readonly stdin?: StdinContent
  /** The whole environment; empty by default, so that no agent and no CI is recognised. */
  readonly env?: { readonly [name: string]: string | undefined }
  /** Default: the directory of the process. */
  readonly cwd?: string
  /** A person sits there: stdin, stdout and stderr are terminals, of 80 columns unless told otherwise. */
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
  /** The outcome that was printed, whatever the form; undefined for help and documents. */
  readonly outcome: Outcome | undefined
  /** What the tool told while it worked. */
  readonly events: readonly ToolEvent[]
  /** In which form the outcome was printed; `asked`: questions stand before it, one a line. */
  readonly form: (PrintedForm & { readonly asked: boolean }) | undefined
}

/** Runs the command line of a toolset in this process. Throws only what a function of the test threw. */
export async function runCli(
  program: Toolset | AnyTool,
  argv: readonly string[] = [],
  options: RunCliOptions = {},
): Promise<CliResult> {
  if (!isTool(program) && typeof (program as Partial<Toolset> | undefined)?.find !== 'function')
    throw new TypeError('runCli() needs a toolset or a tool')
  const functions = lookAfterFunctions()
  const typist = createTypist(options.answers, options.samples, functions)
  const { io, stdout, stderr } = fakeIo({ ...options, lines: typist.lines })
  const controller = new AbortController()
  // As a process does it, whatever reason the test gave.
  const cancel = (): void => controller.abort(cancelled(options.signal?.reason))
  if (options.signal?.aborted) cancel()
  const stopListening = options.signal ? onAbort(options.signal, cancel) : () => undefined
  const events: ToolEvent[] = []
  let asked = false
  let printed: { readonly outcome: Outcome; readonly form: PrintedForm } | undefined
  const host: Host = {
    signal: controller.signal,
    started: { execPath: 'node', execArgv: [], script: undefined },
    // The process belongs to the test; stray output is taken care of for this run alone.
    prepareForTools: () => undefined,
    makeToolset: toolset,
    observer: {
      onEvent: (event) => void events.push(event),
      onQuestion(question, how) {
        asked ||= how === 'line'
        typist.asked(question, how)
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
