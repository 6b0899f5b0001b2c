import type { RunEvent } from '../../contract/run-state.ts'
import type { BuiltinContext } from '../../surfaces/builtin/builtin.ts'
import { applyEvent } from '../../views/model/run-model/apply-event.ts'
import { createRunModel } from '../../views/model/run-model/create-run-model.ts'
import type { RunModel } from '../../views/model/run-model/run-model-type.ts'
import type { LiveTree, ShownRun } from '../../views/terminal/live-tree.ts'
import { openLook } from '../progress/open-look.ts'
import { openTree } from '../progress/open-tree.ts'
import { openEndTeller } from '../progress/tell-end.ts'
import type { EndTeller } from '../progress/tell-end.ts'
import { askedOf } from '../run/run-facts.ts'
import type { Onlooker, Watched, Watching } from './onlooker-type.ts'

/** Somebody who sees runs as live trees, and can step aside. */
export type TreeOnlooker = Onlooker & { aside(work: () => Promise<void>): Promise<void> }

/** Opens the trees of watched runs; without a tree only their ends are told. With `result`, results are printed on stdout in words. */
export async function openTreeOnlooker(
  { io, globals }: BuiltinContext,
  { progress, root, runs, since }: Watching,
  result: boolean,
): Promise<TreeOnlooker> {
  const tree =
    progress === 'tree'
      ? await openTree({ root, named: runs.length > 1, answersHere: false }, io, globals)
      : undefined
  const look = tree?.look ?? openLook(io, globals)
  const seen = new Map<
    Watched,
    { readonly run: Pick<ShownRun, 'model' | 'recall' | 'hear'>; readonly end: EndTeller }
  >()
  const open = (watched: Watched): NonNullable<ReturnType<typeof seen.get>> => {
    const { request } = watched
    const asked =
      'events' in watched ? { ...watched.request, workflow: true } : askedOf(watched.request)
    const run = tree ? tree.show(asked) : unseen(createRunModel(asked))
    const end = openEndTeller({
      request,
      paths: 'events' in watched ? undefined : watched.paths,
      root,
      model: run.model,
      look,
      io,
      globals,
    })
    // What its program left goes on as a run, which tells it from its beginning.
    for (const [
      other,
      {
        run: { model },
      },
    ] of seen)
      if (model.run_id === asked.run_id) seen.delete(other)
    const opened = { run, end }
    seen.set(watched, opened)
    return opened
  }
  runs.forEach(open)
  return {
    closed: false,
    async see(watched, events) {
      const { run, end } = seen.get(watched) ?? open(watched)
      events.forEach(end.add)
      run.recall(events.filter(({ seq }) => seq < since))
      await run.hear(events.filter(({ seq }) => seq >= since))
    },
    aside: (work) => (tree as LiveTree | undefined)?.aside(work) ?? work(),
    async end() {
      await tree?.finish()
      for (const {
        run: { model },
        end,
      } of seen.values()) {
        if (result) await end.result()
        if (tree || model.state !== 'completed') await end.last()
      }
    },
  }
}

function unseen(model: RunModel): Pick<ShownRun, 'model' | 'recall' | 'hear'> {
  const recall = (events: readonly RunEvent[]): void =>
    events.forEach((event) => applyEvent(model, event))
  return { model, recall, hear: async (events) => recall(events) }
}
