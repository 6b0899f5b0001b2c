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
import type { ByteSource } from '../protocol/io.ts'
import type { DialectContext, DialectWriter } from '../protocol/output-protocols.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { SerialQueue } from '../util/async.ts'
import type { LineDialogue } from './dialogue.ts'
import { formatNotificationJson, formatNotificationText } from './formats/envelope.ts'
import { toJsonText } from './formats/json-text.ts'
import type { StdinLineReader } from './input.ts'
import { createLineReader } from './input.ts'
import { isEnvelopeMode } from './output.ts'
import type { ProgressDisplay } from './progress.ts'
import type { CliCall } from './types.ts'

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

type CallOutput = {
  readonly call: CliCall
  readonly writer: DialectWriter
  readonly context: DialectContext
  /** Events are printed on stdout as lines. */
  readonly streamed: boolean
}

/**
 * Shows what a tool reports while it works: lines on stdout for streams, notifications on stderr, a
 * live line for people.
 */
export async function createEventPrinter(output: CallOutput): Promise<EventPrinter> {
  const { call, writer, context, streamed } = output
  const { io, globals } = call
  const notify = await createNotifier(output)
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
      // In a session the caller answers by lines, so it reads the questions on stdout.
      if (streamed || (globals.session && isSessionEvent(event))) {
        const line = writer.event(event, context)
        return line ? sendLine(line) : undefined
      }
      if (globals.verbose || !isDebugLog(event)) notify.show(event)
    },
    whileAsking: notify.whileAsking,
    async start() {
      if (!streamed) return
      const line = writer.start(context)
      if (line) await sendLine(line)
      heartbeat = setInterval(beat, HEARTBEAT_INTERVAL_MS).unref()
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

async function createNotifier({ call, streamed }: CallOutput): Promise<StderrNotifier> {
  const { io, globals, presentation, entry } = call
  if (streamed || globals.quiet) return SILENT_NOTIFIER
  const isEnvelope = isEnvelopeMode(presentation.mode)
  if (isEnvelope || !io.stderr.isTTY || io.env['TERM'] === 'dumb') {
    const formatLine = isEnvelope ? formatNotificationJson : formatNotificationText
    const show = (event: ToolEvent): void => {
      const text = formatLine(event)
      if (text !== undefined) io.stderr.write(`${text}\n`)
    }
    return { ...SILENT_NOTIFIER, show }
  }
  const { createProgressDisplay, captureStrayLines } = await import('./progress.ts')
  const progress = createProgressDisplay({
    stderr: io.stderr,
    color: presentation.stderrColor,
    now: io.now,
    label: entry.path.join(' '),
  })
  // Output of the handler is printed above the line, and not in it.
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

function isDebugLog(event: ToolEvent): boolean {
  return event.type === 'log' && event.level === 'debug'
}

function isSessionEvent(event: ToolEvent): boolean {
  return (
    event.type === 'session_start' ||
    event.type === 'awaiting_input' ||
    event.type === 'session_end'
  )
}

/** Who answers the tool; undefined where there is no one. */
type Responders = {
  readonly confirm: false | ((question: Interaction) => Promise<boolean | undefined>)
  readonly answer: Answerer | undefined
  readonly sample: Sampler | undefined
}

/**
 * Connects a tool's questions to the person at the terminal, or to the caller by JSON lines. Throws
 * USAGE for a wrong `--sample-via`.
 */
export function createResponders({
  call,
  writer,
  context,
  events,
}: Omit<CallOutput, 'streamed'> & { readonly events: EventPrinter }): Responders {
  const { io, globals, presentation, observer, ending } = call
  // Stdin has one owner: everything that reads lines shares one reader.
  let lines: StdinLineReader | undefined
  const sharedLines = (): StdinLineReader => (lines ??= createLineReader(io.stdin))
  let dialogue: Promise<LineDialogue> | undefined
  const openDialogue = async (): Promise<LineDialogue> =>
    (await import('./dialogue.ts')).createLineDialogue({
      lines: sharedLines(),
      send: events.sendLine,
      question: (question) => writer.question(question, context),
      asking: (question) => observer?.onQuestion(question, 'line'),
    })
  const byLines = (): Promise<LineDialogue> => (dialogue ??= openDialogue())

  let turns: SerialQueue | undefined
  const askPerson: Answerer = (question, signal) =>
    (turns ??= new SerialQueue()).run(async () => {
      signal.throwIfAborted()
      const { createTerminalAnswerer } = await import('./dialogue.ts')
      observer?.onQuestion(question, 'words')
      return events.whileAsking(async () =>
        createTerminalAnswerer(sharedLines(), io.stderr, await io.screen?.())(question, signal),
      )
    })
  const askByLines: Answerer = async (question, signal) =>
    (await byLines()).answer(question, signal)

  const chooseAnswerer = (): Answerer | undefined => {
    if (globals.session) return askByLines
    if (io.stdin.isTTY) return io.stderr.isTTY && !presentation.caller ? askPerson : undefined
    // A runner writes answers to our stdin, and closes it where there is no one to answer.
    return presentation.dialect === 'acor' && !io.stdin.taken ? askByLines : undefined
  }
  const answer = chooseAnswerer()
  return {
    // Any other answer than yes or no is none.
    confirm: !answer
      ? false
      : async (question) => {
          const given = await answer(question, 'signal' in ending ? ending.signal : ending)
          return typeof given === 'boolean' ? given : undefined
        },
    answer,
    sample: chooseSampler(globals.sampleVia, io.stdin, async (request, signal) =>
      (await byLines()).sample(request, signal),
    ),
  }
}

// Without the flag, completions are requested on stdin, unless a person is there or the input came
// from it.
function chooseSampler(
  via: string | undefined,
  stdin: ByteSource,
  byLines: Sampler,
): Sampler | undefined {
  if (via === undefined) return stdin.isTTY || stdin.taken ? undefined : byLines
  if (via === 'stdin') return byLines
  if (!/^https?:\/\//.test(via))
    throw new ToolError(
      'USAGE',
      `--sample-via must be stdin or an http(s) address; got '${via.slice(0, 60)}'`,
      { field: 'sample-via' },
    )
  return async (request, signal) =>
    (await import('./dialogue.ts')).createHttpSampler(via)(request, signal)
}
