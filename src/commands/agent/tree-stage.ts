import { dirname } from 'node:path'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import type { BuiltinContext } from '../../surfaces/builtin/builtin.ts'
import { openTree } from '../progress/open-tree.ts'
import { openEndTeller } from '../progress/tell-end.ts'
import { isPerson } from '../run/channels.ts'
import { askedOf } from '../run/run-facts.ts'
import { rowsToAsk } from '../run/rows-to-ask.ts'
import { readEvents } from './stage.ts'
import type { Stage } from './stage.ts'

/** A stage with a live tree below what is said. While the model speaks at this terminal the tree is away: its words come in pieces of lines. */
export async function openTreeStage(
  paths: RunPaths,
  request: RunRequest,
  { io, globals }: BuiltinContext,
): Promise<Stage> {
  const root = dirname(paths.folder)
  const tree = await openTree({ root, named: false, answersHere: isPerson(io) }, io, globals)
  const run = tree.show(askedOf(request))
  const teller = openEndTeller({
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
    say(text) {
      takeStage()
      said = said.then(() => io.stdout.write(text))
      inLine = !text.endsWith('\n')
    },
    rest,
    note(line) {
      rest()
      if (!globals.quiet) void tree.above([tree.look.paint('dim', tree.look.clean(line))])
    },
    async hear(lines) {
      const events = readEvents(lines)
      events.forEach(teller.add)
      await run.hear(events, false)
    },
    async ask(question, _signal, work) {
      rest()
      return tree.ask({ prompt: question.prompt, rows: rowsToAsk(question) }, work)
    },
    async end(success) {
      rest()
      await said
      await tree.finish()
      await io.stdout.flush()
      if (success) await teller.last()
    },
  }
}
