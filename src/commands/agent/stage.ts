import type { RunEvent } from '../../contract/run-state.ts'
import type { BuiltinContext } from '../../surfaces/builtin/builtin.ts'
import { findCaller } from '../../surfaces/cli/caller.ts'
import { choosePresentation } from '../../surfaces/cli/mode.ts'
import { createPaint } from '../../surfaces/cli/output/color.ts'
import { cleanLine } from '../../surfaces/cli/output/text/clean.ts'
import type { ChosenProgress } from '../progress/progress-flag.ts'
import type { AskPerson } from '../run/channels.ts'

/** Where an agent is seen and heard: what it says is on stdout, what it does is on stderr. */
export type Stage = {
  /** A piece of what the model says. */
  say(text: string): void
  /** Nothing more is said for now. */
  rest(): void
  /** A line about what it does. */
  note(line: string): void
  /** What is on record of the run. */
  hear(lines: string): Promise<void>
  readonly ask: AskPerson
  /** The run is over; where it is a success, the last lines are told. Safe to call twice. */
  end(success: boolean): Promise<void>
}

/** A stage without a picture: words as they come. */
export function openPlainStage({ io, globals }: BuiltinContext, progress: ChosenProgress): Stage {
  const paint = createPaint(choosePresentation(globals, io, findCaller(io.env)).stderrColor)
  let inLine = false
  const rest = (): void => {
    if (inLine) io.stdout.write('\n')
    inLine = false
  }
  return {
    say(text) {
      io.stdout.write(text)
      inLine = !text.endsWith('\n')
    },
    rest,
    note(line) {
      rest()
      if (!globals.quiet && (progress === 'words' || progress === 'words-beside'))
        io.stderr.write(`${paint('dim', cleanLine(line))}\n`)
    },
    hear: async (lines) => (progress === 'events-beside' ? io.stderr.send(lines) : undefined),
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
export function readEvents(lines: string): readonly RunEvent[] {
  return lines
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as RunEvent)
}
