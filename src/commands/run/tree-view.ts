import { dirname } from 'node:path'
import { openTree } from '../progress/open-tree.ts'
import { hearStrayLines } from '../../surfaces/cli/stray-lines.ts'
import { openEndTeller } from '../progress/tell-end.ts'
import { earlierEvents } from './earlier-events.ts'
import { rowsToAsk } from './rows-to-ask.ts'
import { askedOf } from './run-facts.ts'
import type { SeenRun, ViewPart } from './view-part.ts'
import { watchQuestions } from './until-shown.ts'

/** The view of a run as a live tree on stderr, and the way to write beside it. */
export type TreeView = Required<ViewPart> & { aside(work: () => Promise<void>): Promise<void> }

/** Opens it. With `result`, the result of the run is printed on stdout in words. */
export async function openTreeView(
  { paths, request, io, globals, person, resumed }: SeenRun,
  { result }: { readonly result: boolean },
): Promise<TreeView> {
  const root = dirname(paths.folder)
  const tree = await openTree({ root, named: false, answersHere: person }, io, globals)
  const run = tree.show(askedOf(request))
  const end = openEndTeller({
    request,
    paths,
    root,
    model: run.model,
    look: tree.look,
    io,
    globals,
  })
  for await (const events of earlierEvents({ paths, resumed })) run.recall(events)
  const questions = watchQuestions()
  // What was printed by something that belongs to no call.
  const endHearing = hearStrayLines(
    (line) => void tree.above([tree.look.paint('dim', tree.look.clean(line))]),
  )
  return {
    async show(_lines, events) {
      events().forEach(end.add)
      await run.hear(events())
      questions.pass(events())
    },
    async ask(question, signal, work) {
      await questions.untilShown(question.id, signal)
      return tree.ask({ prompt: question.prompt, rows: rowsToAsk(question) }, work)
    },
    aside: tree.aside,
    async sumUp() {
      endHearing()
      await tree.finish()
      if (result) await end.result()
      await end.last()
    },
    close() {
      endHearing()
      return tree.finish()
    },
  }
}
