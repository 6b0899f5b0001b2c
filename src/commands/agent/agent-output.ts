/**
 * What is shown while an agent works: its text on stdout, what it does on stderr.
 */

import type { AgentEvent } from '../../agent/types.ts'
import { cleanLine, cleanText, createTextPainter } from '../../cli/formats/terminal-text.ts'
import type { Presentation } from '../../cli/presentation.ts'
import { choosePresentation } from '../../cli/presentation.ts'
import type { BuiltinContext } from '../../cli/types.ts'
import type { RunEvent } from '../../protocol/run-state.ts'
import { shorten } from '../../util/text.ts'
import type { ProgressStyle } from '../command.ts'
import type { AskPerson } from '../run/consent.ts'

const MAX_INPUT_CHARS = 120

/** What people and programs see while an agent works. */
type AgentPresenter = {
  readonly presentation: Presentation
  addEvent(event: AgentEvent): void
  /** Something that people should know before it begins. */
  warn(text: string): void
}

/**
 * Words as they come for people: what the model says, and what it does. For programs nothing but
 * what they ask for, or each event as a line with --stream.
 */
export function createAgentPresenter(
  { io, globals }: BuiltinContext,
  stage: () => AgentOutput,
  progress: ProgressStyle,
): AgentPresenter {
  const presentation = choosePresentation(globals, io)
  const forPeople = presentation.mode === 'text' && !globals.stream
  const notes = forPeople || progress === 'tree' || progress === 'words-beside'
  const speak = (
    event: AgentEvent,
    { writeText: say, writeNote: note, endText: rest }: AgentOutput,
  ): void => {
    if (event.type === 'text') {
      if (forPeople) say(cleanText(event.delta))
    } else if (event.type === 'tool_call')
      note(`> ${event.name} ${shorten(JSON.stringify(event.input) ?? '', MAX_INPUT_CHARS)}`)
    else if (event.type === 'tool_result' && !event.outcome.ok)
      note(`! ${event.name}: ${event.outcome.error.code} ${event.outcome.error.message}`)
    else if (event.type === 'retry')
      note(
        `! the model is asked again in ${Math.round(event.wait_s * 10) / 10} s: ${event.error.message}${event.discarded > 0 ? ' (what it said in this turn does not count)' : ''}`,
      )
    else if (event.type === 'turn_start' || event.type === 'usage') rest()
  }
  return {
    presentation,
    addEvent(event) {
      if (globals.stream && event.type !== 'end') io.stdout.write(`${JSON.stringify(event)}\n`)
      if (notes) speak(event, stage())
    },
    warn(text) {
      if (notes) stage().writeNote(`! ${text}`)
    },
  }
}

/** Where an agent is seen and heard: what it says is on stdout, what it does is on stderr. */
export type AgentOutput = {
  /** A piece of what the model says. */
  writeText(text: string): void
  /** Nothing more is said for now. */
  endText(): void
  /** A line about what it does. */
  writeNote(line: string): void
  /** What is on record of the run. */
  addRecord(lines: string): Promise<void>
  readonly ask: AskPerson
  /** The run is over; where it is a success, the last lines are told. Safe to call twice. */
  end(success: boolean): Promise<void>
}

/** A stage without a picture: words as they come. */
export function createPlainOutput(
  { io, globals }: BuiltinContext,
  progress: ProgressStyle,
): AgentOutput {
  const paint = createTextPainter(choosePresentation(globals, io).stderrColor)
  let inLine = false
  const rest = (): void => {
    if (inLine) io.stdout.write('\n')
    inLine = false
  }
  return {
    writeText(text) {
      io.stdout.write(text)
      inLine = !text.endsWith('\n')
    },
    endText: rest,
    writeNote(line) {
      rest()
      if (!globals.quiet && (progress === 'words' || progress === 'words-beside'))
        io.stderr.write(`${paint('dim', cleanLine(line))}\n`)
    },
    addRecord: async (lines) => (progress === 'events-beside' ? io.stderr.send(lines) : undefined),
    async ask(_question, _signal, work) {
      rest()
      return work()
    },
    async end() {
      rest()
      await io.stdout.flush()
    },
  }
}

/** The lines of a record, read. */
export function parseEventLines(lines: string): readonly RunEvent[] {
  return lines
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as RunEvent)
}
