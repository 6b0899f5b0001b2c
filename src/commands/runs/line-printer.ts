import type { RunEvent } from '../../contract/run-state.ts'
import { eventText } from '../../runner/summary/event-text.ts'
import type { BuiltinContext } from '../../surfaces/builtin/builtin.ts'
import { findCaller } from '../../surfaces/cli/caller.ts'
import { choosePresentation } from '../../surfaces/cli/mode.ts'
import { createPaint } from '../../surfaces/cli/output/color.ts'
import type { Paint } from '../../surfaces/cli/output/color.ts'
import { cleanLine, cleanText } from '../../surfaces/cli/output/text/clean.ts'

const BAD = ['error', 'runner_error', 'runner_warning', 'diagnostic', 'cancelled']

/** Prints lines as they come, and waits for the reader; JSON for programs, words for people. */
export type LinePrinter = {
  events(events: readonly RunEvent[]): Promise<void>
  /** Lines of a stream of the tool. */
  text(run: string, stream: string, lines: readonly string[]): Promise<void>
  /** True when nobody reads any more. */
  readonly closed: boolean
}

/** The printer of a command. With `named`, each line for people says which run it is of. */
export function openPrinter({ io, globals }: Pick<BuiltinContext, 'io' | 'globals'>, { named = false } = {}): LinePrinter {
  const { mode, color } = choosePresentation(globals, io, findCaller(io.env))
  const paint = createPaint(color)
  const forPeople = mode === 'text'
  const send = (lines: readonly string[]): Promise<void> => (lines.length === 0 ? Promise.resolve() : io.stdout.send(`${lines.join('\n')}\n`))
  return {
    events: (events) => send(events.map((event) => (forPeople ? describe(event, named, paint) : JSON.stringify(event)))),
    text: (run, stream, lines) => send(lines.map((line) => (forPeople ? cleanText(line) : JSON.stringify({ run_id: run, stream, line })))),
    get closed() { return io.stdout.closed === true },
  }
}

function describe(event: RunEvent, named: boolean, paint: Paint): string {
  const text = cleanLine(eventText(event))
  const type = cleanLine(event.type)
  return [paint('dim', cleanLine(String(event.ts).slice(11, 19))), ...(named ? [event.run_id] : []), BAD.includes(event.type) ? paint('red', type) : type === 'runner_end' ? paint('bold', type) : paint('cyan', type), ...(text === '' ? [] : [text])].join(' ')
}
