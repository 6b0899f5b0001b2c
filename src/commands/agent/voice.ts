import { shorten } from '../../contract/shorten.ts'
import type { AgentEvent } from '../../prompting/agent/agent-type.ts'
import type { BuiltinContext } from '../../surfaces/builtin/builtin.ts'
import { findCaller } from '../../surfaces/cli/caller.ts'
import { choosePresentation } from '../../surfaces/cli/mode.ts'
import type { Presentation } from '../../surfaces/cli/mode.ts'
import { createPaint } from '../../surfaces/cli/output/color.ts'
import { cleanLine, cleanText } from '../../surfaces/cli/output/text/clean.ts'

const LONGEST_INPUT = 120

/** What people and programs see while an agent works. */
export type Voice = {
  readonly presentation: Presentation
  hear(event: AgentEvent): void
  /** Begins a new line, for somebody else who has something to say. */
  pause(): void
  end(): Promise<void>
}

/** Words as they come for people: what the model says on stdout, what it does on stderr. For programs nothing, or each event as a line with --stream. */
export function openVoice({ io, globals }: BuiltinContext): Voice {
  const presentation = choosePresentation(globals, io, findCaller(io.env))
  const paint = createPaint(presentation.stderrColor)
  const forPeople = presentation.mode === 'text'
  let inLine = false
  const pause = (): void => {
    if (inLine) io.stdout.write('\n')
    inLine = false
  }
  const note = (line: string): void => {
    pause()
    if (!globals.quiet) io.stderr.write(`${paint('dim', cleanLine(line))}\n`)
  }
  const speak = (event: AgentEvent): void => {
    if (event.type === 'text') {
      io.stdout.write(cleanText(event.delta))
      inLine = !event.delta.endsWith('\n')
    } else if (event.type === 'tool_call') note(`> ${event.name} ${shorten(JSON.stringify(event.input) ?? '', LONGEST_INPUT)}`)
    else if (event.type === 'tool_result' && !event.outcome.ok) note(`! ${event.name}: ${event.outcome.error.code} ${event.outcome.error.message}`)
    else if (event.type === 'retry') note(`! the model is asked again in ${Math.round(event.wait_s * 10) / 10} s: ${event.error.message}${event.discarded > 0 ? ' (what it said in this turn does not count)' : ''}`)
    else if (event.type === 'turn_start') pause()
  }
  return {
    presentation,
    hear(event) {
      if (globals.stream && event.type !== 'end') io.stdout.write(`${JSON.stringify(event)}\n`)
      else if (forPeople && !globals.stream) speak(event)
    },
    pause,
    async end() {
      pause()
      await io.stdout.flush()
    },
  }
}
