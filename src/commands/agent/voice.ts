import { shorten } from '../../contract/shorten.ts'
import type { AgentEvent } from '../../prompting/agent/agent-type.ts'
import type { BuiltinContext } from '../../surfaces/builtin/builtin.ts'
import { findCaller } from '../../surfaces/cli/caller.ts'
import { choosePresentation } from '../../surfaces/cli/mode.ts'
import type { Presentation } from '../../surfaces/cli/mode.ts'
import { cleanText } from '../../surfaces/cli/output/text/clean.ts'
import type { ChosenProgress } from '../progress/progress-flag.ts'
import type { Stage } from './stage.ts'

const LONGEST_INPUT = 120

/** What people and programs see while an agent works. */
export type Voice = {
  readonly presentation: Presentation
  hear(event: AgentEvent): void
  /** Something that people should know before it begins. */
  warn(text: string): void
}

/** Words as they come for people: what the model says, and what it does. For programs nothing but what they ask for, or each event as a line with --stream. */
export function openVoice(
  { io, globals }: BuiltinContext,
  stage: () => Stage,
  progress: ChosenProgress,
): Voice {
  const presentation = choosePresentation(globals, io, findCaller(io.env))
  const forPeople = presentation.mode === 'text' && !globals.stream
  const notes = forPeople || progress === 'tree' || progress === 'words-beside'
  const speak = (event: AgentEvent, { say, note, rest }: Stage): void => {
    if (event.type === 'text') {
      if (forPeople) say(cleanText(event.delta))
    } else if (event.type === 'tool_call')
      note(`> ${event.name} ${shorten(JSON.stringify(event.input) ?? '', LONGEST_INPUT)}`)
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
    hear(event) {
      if (globals.stream && event.type !== 'end') io.stdout.write(`${JSON.stringify(event)}\n`)
      if (notes) speak(event, stage())
    },
    warn(text) {
      if (notes) stage().note(`! ${text}`)
    },
  }
}
