import type { DialectContext } from '../../contract/dialects/dialect.ts'
import { loadWriter } from '../../contract/dialects/load.ts'
import type { ToolEvent, ToolInvokedEvent } from '../../contract/events.ts'
import type { Io } from '../../contract/io.ts'
import type { Presentation } from './mode.ts'
import { toJsonText } from './output/json-text.ts'
import { printsEnvelope } from './output/print.ts'
import type { Progress } from './progress/live.ts'
import { notificationLine, notificationText } from './progress/notify.ts'

const HEARTBEAT_MS = 30_000

export type EventListener = {
  onEvent(event: ToolEvent | ToolInvokedEvent): void | Promise<void>
  /** Prints one line of the dialogue on stdout. */
  sendLine(line: object): Promise<void>
  /** Runs something that needs the terminal for itself. */
  whileAsking<T>(work: () => Promise<T>): Promise<T>
  start(): Promise<void>
  stop(): Promise<void>
}

type Listening = {
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

/** Shows what a tool tells while it works: lines on stdout for streams, notifications on stderr, a live line for people. */
export async function listenToEvents(listening: Listening): Promise<EventListener> {
  const { io, presentation, context, streamed, session } = listening
  const writer = await loadWriter(presentation.dialect)
  const notify = await chooseNotifier(listening)
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
      if (!streamed && !(session && isDialogue(event)))
        return isWanted(event, listening) ? notify.show(event) : undefined
      const line = writer.event(event, context)
      if (line) return sendLine(line)
    },
    whileAsking: notify.whileAsking,
    async start() {
      const line = streamed ? writer.start(context) : undefined
      if (line) await sendLine(line)
      if (streamed) heartbeat = setInterval(beat, HEARTBEAT_MS).unref()
    },
    async stop() {
      clearInterval(heartbeat)
      notify.stop()
      await io.stdout.flush()
    },
  }
}

type Notifier = {
  show(event: ToolEvent): void
  whileAsking<T>(work: () => Promise<T>): Promise<T>
  stop(): void
}

const SILENT: Notifier = {
  show: () => undefined,
  whileAsking: (work) => work(),
  stop: () => undefined,
}

async function chooseNotifier({
  io,
  presentation,
  streamed,
  quiet,
  label,
}: Listening): Promise<Notifier> {
  if (streamed || quiet) return SILENT
  if (printsEnvelope(presentation.mode)) {
    return { ...SILENT, show: (event) => writeLine(io, notificationLine(event)) }
  }
  if (!io.stderr.isTTY || io.env['TERM'] === 'dumb') {
    return { ...SILENT, show: (event) => writeLine(io, notificationText(event)) }
  }
  const [{ createProgress }, { hearStrayLines }] = await Promise.all([
    import('./progress/live.ts'),
    import('./stray-lines.ts'),
  ])
  const progress = createProgress({
    stderr: io.stderr,
    color: presentation.stderrColor,
    now: io.now,
    label,
  })
  // What the handler prints stands above the line, and not in it.
  return liveNotifier(progress, hearStrayLines(progress.log))
}

function liveNotifier(progress: Progress, endHearing: () => void): Notifier {
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

function writeLine(io: Io, text: string | undefined): void {
  if (text !== undefined) io.stderr.write(`${text}\n`)
}

function isWanted(event: ToolEvent, { verbose }: Listening): boolean {
  return verbose > 0 || event.type !== 'log' || event.level !== 'debug'
}

function isDialogue(event: ToolEvent): boolean {
  return (
    event.type === 'session_start' ||
    event.type === 'awaiting_input' ||
    event.type === 'session_end'
  )
}
