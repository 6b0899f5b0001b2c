import type { RunEvent } from '../../contract/run-state.ts'
import type { BuiltinContext } from '../../surfaces/builtin/builtin.ts'
import { findCaller } from '../../surfaces/cli/caller.ts'
import { choosePresentation } from '../../surfaces/cli/mode.ts'
import { createPaint } from '../../surfaces/cli/output/color.ts'
import type { Paint } from '../../surfaces/cli/output/color.ts'
import { cleanText } from '../../surfaces/cli/output/text/clean.ts'
import { eventLines } from './event-line.ts'

/** Prints lines as they come, and waits for the reader; JSON for programs, words for people. */
export type LinePrinter = {
  events(events: readonly RunEvent[]): Promise<void>
  /** Lines of a stream of the tool. */
  text(run: string, stream: string, lines: readonly string[]): Promise<void>
  /** Lines for people only, as they are. */
  words(lines: (paint: Paint) => readonly string[]): Promise<void>
  /** True when nobody reads any more. */
  readonly closed: boolean
}

export type PrinterOptions = {
  /** Each line for people says which run it is of. */
  readonly named?: boolean
  /** People see also what says nothing to them: they have asked for it. */
  readonly everything?: boolean
  /** Words on stderr, whatever stdout carries. */
  readonly beside?: boolean
}

// What `--quiet` leaves out, besides all that is told of tasks: their run says how they ended.
const NOTES = ['runner_start', 'progress', 'log', 'runner_log', 'diagnostic', 'artifact', 'item']

/** The printer of a command. */
export function openPrinter(
  { io, globals }: Pick<BuiltinContext, 'io' | 'globals'>,
  { named = false, everything = false, beside = false }: PrinterOptions = {},
): LinePrinter {
  const { mode, color, stderrColor } = choosePresentation(globals, io, findCaller(io.env))
  const paint = createPaint(beside ? stderrColor : color)
  const forPeople = beside || mode === 'text'
  const sink = beside ? io.stderr : io.stdout
  const tools = new Map<string, string>()
  const send = (lines: readonly string[]): Promise<void> =>
    lines.length === 0 ? Promise.resolve() : sink.send(`${lines.join('\n')}\n`)
  const describe = (event: RunEvent): readonly string[] => {
    if (event.type === 'runner_start' && typeof event['tool'] === 'string')
      tools.set(event.run_id, event['tool'])
    return globals.quiet && isNote(event)
      ? []
      : eventLines(event, { paint, tool: tools.get(event.run_id), named, everything })
  }
  return {
    events: (events) =>
      send(events.flatMap((event) => (forPeople ? describe(event) : JSON.stringify(event)))),
    text: (run, stream, lines) =>
      send(
        lines.map((line) =>
          forPeople ? cleanText(line) : JSON.stringify({ run_id: run, stream, line }),
        ),
      ),
    words: (lines) => (forPeople ? send(lines(paint)) : Promise.resolve()),
    get closed() {
      return sink.closed === true
    },
  }
}

function isNote({ type }: RunEvent): boolean {
  return NOTES.includes(type) || type.startsWith('task_')
}
