/**
 * The same with a live tree below the text. Loaded only where a tree is drawn.
 */

import { dirname } from 'node:path'
import type { BuiltinContext } from '../../cli/types.ts'
import type { RunRequest } from '../../runner/request.ts'
import type { RunPaths } from '../../runner/run-paths.ts'
import { isPerson } from '../run/consent.ts'
import { createRunEndReporter } from '../run/result-view.ts'
import { countQuestionRows, openTerminalTree } from '../run/tree-views.ts'
import { toRunModelInput } from '../run/view-parts.ts'
import type { AgentOutput } from './agent-output.ts'
import { parseEventLines } from './agent-output.ts'

/**
 * A stage with a live tree below what is said. While the model speaks at this terminal the tree is
 * away: its words come in pieces of lines.
 */
export async function createTreeOutput(
  paths: RunPaths,
  request: RunRequest,
  { io, globals }: BuiltinContext,
): Promise<AgentOutput> {
  const root = dirname(paths.folder)
  const tree = await openTerminalTree(
    { root, named: false, answersHere: isPerson(io) },
    io,
    globals,
  )
  const run = tree.show(toRunModelInput(request))
  const teller = createRunEndReporter({
    request,
    paths,
    root,
    model: run.model,
    look: tree.look,
    io,
    globals,
  })
  let inLine = false
  let release: (() => void) | undefined
  // What is said waits until the tree is away.
  let said: Promise<void> = Promise.resolve()
  const takeStage = (): void => {
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
      takeStage()
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
      events.forEach(teller.add)
      await run.addEvents(events, false)
    },
    async ask(question, _signal, work) {
      rest()
      return tree.ask({ prompt: question.prompt, rows: countQuestionRows(question) }, work)
    },
    async end(success) {
      rest()
      await said
      await tree.finish()
      await io.stdout.flush()
      if (success) await teller.printLastLines()
    },
  }
}
