/**
 * What a tool reports and asks while it runs: events go to stdout, stderr or a live line; questions
 * go to the person at the terminal or to the caller as JSON lines.
 */

import type {
  Answerer,
  Interaction,
  Sampler,
  ToolEvent,
  ToolInvokedEvent,
} from '../protocol/events.ts'
import type { ByteSource, Io } from '../protocol/io.ts'
import type { DialectContext } from '../protocol/output-protocols.ts'
import { loadDialectWriter } from '../protocol/output.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { compact } from '../util/values.ts'
import { formatNotificationJson, formatNotificationText } from './formats/envelope.ts'
import { toJsonText } from './formats/json-text.ts'
import type { CliCall } from './host.ts'
import type { StdinLineReader } from './input.ts'
import { createAbortableQueue, createLineReader } from './input.ts'
import type { LineDialogue } from './line-dialogue.ts'
import { isEnvelopeMode } from './output.ts'
import type { Presentation } from './presentation.ts'
import type { ProgressDisplay } from './progress.ts'

const HEARTBEAT_INTERVAL_MS = 30_000

type EventPrinter = {
  onEvent(event: ToolEvent | ToolInvokedEvent): void | Promise<void>
  /** Prints one line of the dialogue on stdout. */
  sendLine(line: object): Promise<void>
  /** Runs something that needs the terminal for itself. */
  whileAsking<T>(work: () => Promise<T>): Promise<T>
  start(): Promise<void>
  stop(): Promise<void>
}

type EventPrinterOptions = {
  readonly io: Io
  readonly presentation: Presentation
  readonly context: DialectContext
  readonly streamed: boolean
  /** The caller answers by lines, so the session's events go to stdout. */
  readonly session: boolean
  readonly quiet: boolean
  /** From 1 on, debug messages are shown too. */
  readonly verbose: number
  readonly label: string
}

/**
 * Shows what a tool tells while it works: lines on stdout for streams, notifications on stderr, a
 * live line for people.
 */
export async function createEventPrinter(listening: EventPrinterOptions): Promise<EventPrinter> {
  const { io, presentation, context, streamed, session } = listening
  const writer = await loadDialectWriter(presentation.dialect)
  const notify = await createNotifier(listening)
  let heartbeat: NodeJS.Timeout | undefined
  const sendLine = (line: object): Promise<void> => io.stdout.send(`${toJsonText(line)}\n`)
  const beat = (): void => {
    const line = writer.heartbeat(context)
    if (line) void sendLine(line)
  }

  return {
    sendLine,
    onEvent(event) {
      if (event.type === 'tool_invoked') return
      if (!streamed && !(session && isSessionEvent(event)))
        return isShown(event, listening) ? notify.show(event) : undefined
      const line = writer.event(event, context)
      if (line) return sendLine(line)
    },
    whileAsking: notify.whileAsking,
    async start() {
      const line = streamed ? writer.start(context) : undefined
      if (line) await sendLine(line)
      if (streamed) heartbeat = setInterval(beat, HEARTBEAT_INTERVAL_MS).unref()
    },
    async stop() {
      clearInterval(heartbeat)
      notify.stop()
      await io.stdout.flush()
    },
  }
}

type StderrNotifier = {
  show(event: ToolEvent): void
  whileAsking<T>(work: () => Promise<T>): Promise<T>
  stop(): void
}

const SILENT_NOTIFIER: StderrNotifier = {
  show: () => undefined,
  whileAsking: (work) => work(),
  stop: () => undefined,
}

async function createNotifier({
  io,
  presentation,
  streamed,
  quiet,
  label,
}: EventPrinterOptions): Promise<StderrNotifier> {
  if (streamed || quiet) return SILENT_NOTIFIER
  if (isEnvelopeMode(presentation.mode)) {
    return {
      ...SILENT_NOTIFIER,
      show: (event) => writeStderrLine(io, formatNotificationJson(event)),
    }
  }
  if (!io.stderr.isTTY || io.env['TERM'] === 'dumb') {
    return {
      ...SILENT_NOTIFIER,
      show: (event) => writeStderrLine(io, formatNotificationText(event)),
    }
  }
  const [{ createProgressDisplay }, { captureStrayLines }] = await Promise.all([
    import('./progress.ts'),
    import('./stray-lines.ts'),
  ])
  const progress = createProgressDisplay({
    stderr: io.stderr,
    color: presentation.stderrColor,
    now: io.now,
    label,
  })
  // What the handler prints stands above the line, and not in it.
  return createLiveNotifier(progress, captureStrayLines(progress.log))
}

function createLiveNotifier(progress: ProgressDisplay, endHearing: () => void): StderrNotifier {
  return {
    show(event) {
      if (event.type === 'session_start') progress.log(event.message)
      else progress.update(event)
    },
    async whileAsking(work) {
      progress.pause()
      try {
        return await work()
      } finally {
        progress.resume()
      }
    },
    stop() {
      endHearing()
      progress.stop()
    },
  }
}

function writeStderrLine(io: Io, text: string | undefined): void {
  if (text !== undefined) io.stderr.write(`${text}\n`)
}

function isShown(event: ToolEvent, { verbose }: EventPrinterOptions): boolean {
  return verbose > 0 || event.type !== 'log' || event.level !== 'debug'
}

function isSessionEvent(event: ToolEvent): boolean {
  return (
    event.type === 'session_start' ||
    event.type === 'awaiting_input' ||
    event.type === 'session_end'
  )
}

/** Who answers a tool on this command line; what is absent, nobody can do. */
type Responders = {
  readonly confirm: false | ((question: Interaction) => Promise<boolean | undefined>)
  readonly answer?: Answerer
  readonly sample?: Sampler
}

type ResponderOptions = {
  readonly call: Pick<CliCall, 'io' | 'globals' | 'caller' | 'presentation' | 'ending' | 'observer'>
  readonly context: DialectContext
  send(line: object): Promise<void>
  whileAsking<T>(work: () => Promise<T>): Promise<T>
}

/**
 * Connects a tool's questions to whoever is there: a person at the terminal, or the caller by JSON
 * lines.
 */
export function createResponders({
  call,
  context,
  send,
  whileAsking,
}: ResponderOptions): Responders {
  const { io, globals, caller, presentation, observer } = call
  // Stdin has one owner: everything that reads lines shares one reader.
  let lines: StdinLineReader | undefined
  const sharedLines = (): StdinLineReader => (lines ??= createLineReader(io.stdin))
  let dialogue: Promise<LineDialogue> | undefined
  const lineWise = (): Promise<LineDialogue> =>
    (dialogue ??= (async () => {
      const [{ createLineDialogue }, writer] = await Promise.all([
        import('./line-dialogue.ts'),
        loadDialectWriter(presentation.dialect),
      ])
      return createLineDialogue({
        lines: sharedLines(),
        send,
        question: (question) => writer.question(question, context),
        asking: (question) => observer?.onQuestion(question, 'line'),
      })
    })())
  const person = io.stdin.isTTY && io.stderr.isTTY && !caller && !globals.session
  // A runner writes the answers of whoever is there to our stdin, and closes it where nobody is.
  const supervised = presentation.dialect === 'acor' && !io.stdin.isTTY && !io.stdin.taken

  const inTurn = createAbortableQueue()
  const askPerson: Answerer = (question, signal) =>
    inTurn(signal, async () => {
      const { createTerminalAnswerer } = await import('./terminal-questions.ts')
      observer?.onQuestion(question, 'words')
      return whileAsking(async () =>
        createTerminalAnswerer(sharedLines(), io.stderr, await io.screen?.())(question, signal),
      )
    })
  const answer: Answerer | undefined = person
    ? askPerson
    : globals.session || supervised
      ? async (question, signal) => (await lineWise()).answer(question, signal)
      : undefined
  return {
    confirm: answer
      ? async (question) =>
          toDecision(
            await answer(question, 'signal' in call.ending ? call.ending.signal : call.ending),
          )
      : false,
    ...compact({ answer }),
    ...createSampler(globals.sampleVia, io.stdin, async (request, signal) =>
      (await lineWise()).sample(request, signal),
    ),
  }
}

// Anything else is no answer: nobody has said no, and nobody has agreed.
function toDecision(answer: unknown): boolean | undefined {
  return typeof answer === 'boolean' ? answer : undefined
}

// Without a word about it, completions are asked on stdin, unless a person sits there or the input
// came from it.
function createSampler(
  via: string | undefined,
  stdin: ByteSource,
  byLines: Sampler,
): { readonly sample?: Sampler } {
  if (via === undefined) return stdin.isTTY || stdin.taken ? {} : { sample: byLines }
  if (via === 'stdin') return { sample: byLines }
  if (!/^https?:\/\//.test(via))
    throw new ToolError(
      'USAGE',
      `--sample-via must be stdin or an http(s) address; got '${via.slice(0, 60)}'`,
      { field: 'sample-via' },
    )
  return {
    sample: async (request, signal) =>
      (await import('./line-dialogue.ts')).createHttpSampler(via)(request, signal),
  }
}
