/**
 * What is shown while an agent works: its text on stdout, what it does on stderr, as words or with a
 * live tree.
 */

import type { AgentEvent } from '../../agent/types.ts'
import { cleanLine, cleanText, createTextPainter } from '../../cli/formats/terminal-text.ts'
import type { Presentation } from '../../cli/presentation.ts'
import type { BuiltinContext } from '../../cli/types.ts'
import type { RunRequest } from '../../runner/request.ts'
import type { RunPaths } from '../../runner/run-paths.ts'
import { shorten } from '../../util/text.ts'
import type { ProgressStyle } from '../command.ts'
import { getPresentation } from '../command.ts'
import type { AskPerson } from '../run/consent.ts'
import { isPerson } from '../run/consent.ts'
import { parseEventLines } from '../run/view-parts.ts'

const MAX_INPUT_CHARS = 120

/** What people and programs see while an agent works. */
type AgentPresenter = {
  readonly presentation: Presentation
  addEvent(event: AgentEvent): void
  /** Something that people should know before it begins. */
  warn(text: string): void
}

/**
 * Shows what the model says and does: words as they come for people, nothing for programs, or each
 * event as a line with --stream.
 */
export function createAgentPresenter(
  context: BuiltinContext,
  getOutput: () => AgentOutput,
  progress: ProgressStyle,
): AgentPresenter {
  const { io, globals } = context
  const presentation = getPresentation(context)
  const forPeople = presentation.mode === 'text' && !globals.stream
  const notes = forPeople || progress === 'tree' || progress === 'words-beside'
  return {
    presentation,
    addEvent(event) {
      if (globals.stream && event.type !== 'end') io.stdout.write(`${JSON.stringify(event)}\n`)
      if (notes) showEvent(event, getOutput(), forPeople)
    },
    warn(text) {
      if (notes) getOutput().writeNote(`! ${text}`)
    },
  }
}

function showEvent(event: AgentEvent, output: AgentOutput, forPeople: boolean): void {
  switch (event.type) {
    case 'text':
      if (forPeople) output.writeText(cleanText(event.delta))
      return
    case 'tool_call': {
      const input = shorten(JSON.stringify(event.input) ?? '', MAX_INPUT_CHARS)
      return output.writeNote(`> ${event.name} ${input}`)
    }
    case 'tool_result': {
      const { name, outcome } = event
      if (outcome.ok) return
      return output.writeNote(`! ${name}: ${outcome.error.code} ${outcome.error.message}`)
    }
    case 'retry': {
      const seconds = Math.round(event.wait_s * 10) / 10
      const lost = event.discarded > 0 ? ' (what it said in this turn does not count)' : ''
      return output.writeNote(
        `! the model is asked again in ${seconds} s: ${event.error.message}${lost}`,
      )
    }
    case 'turn_start':
    case 'usage':
      return output.endText()
    default:
      return
  }
}

/** Where an agent is shown: what it says on stdout, what it does on stderr. */
export type AgentOutput = {
  /** A piece of what the model says. */
  writeText(text: string): void
  /** Ends a line that was begun. */
  endText(): void
  /** A line about what it does. */
  writeNote(line: string): void
  /** What is on record of the run. */
  addRecord(lines: string): Promise<void>
  readonly ask: AskPerson
  /** The run is over; after a success, the last lines are printed. May be called twice. */
  end(success: boolean): Promise<void>
}

/** Words as they come, without a tree. */
export function createPlainOutput(context: BuiltinContext, progress: ProgressStyle): AgentOutput {
  const { io, globals } = context
  const paint = createTextPainter(getPresentation(context).stderrColor)
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

/**
 * Words with a live tree below them. While the model speaks at this terminal the tree is away,
 * because its words come in pieces of lines.
 */
export async function createTreeOutput(
  paths: RunPaths,
  request: RunRequest,
  context: BuiltinContext,
): Promise<AgentOutput> {
  const { io, globals } = context
  const { askBeside, openRunTree } = await import('../run/terminal-views.ts')
  const { tree, run, end } = await openRunTree({ paths, request }, isPerson(io), context)
  let inLine = false
  let release: (() => void) | undefined
  // What is written waits until the tree is away.
  let said: Promise<void> = Promise.resolve()
  const hideTree = (): void => {
    if (release || !io.stdout.isTTY) return
    const over = new Promise<void>((resolve) => {
      release = resolve
    })
    said = new Promise((begun) => {
      void tree.aside(async () => {
        begun()
        await over
        await said
      })
    })
  }
  const rest = (): void => {
    if (inLine) said = said.then(() => io.stdout.write('\n'))
    inLine = false
    release?.()
    release = undefined
  }
  return {
    writeText(text) {
      hideTree()
      said = said.then(() => io.stdout.write(text))
      inLine = !text.endsWith('\n')
    },
    endText: rest,
    writeNote(line) {
      rest()
      if (!globals.quiet) void tree.above([tree.look.paint('dim', tree.look.clean(line))])
    },
    async addRecord(lines) {
      const events = parseEventLines(lines)
      events.forEach(end.add)
      await run.addEvents(events, false)
    },
    async ask(question, _signal, work) {
      rest()
      return askBeside(tree, question, work)
    },
    async end(success) {
      rest()
      await said
      await tree.finish()
      await io.stdout.flush()
      if (success) await end.printLastLines()
    },
  }
}
