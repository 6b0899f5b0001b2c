import { dirname } from 'node:path'
import { applyEvent } from '../../views/model/run-model/apply-event.ts'
import { createRunModel } from '../../views/model/run-model/create-run-model.ts'
import { openLook } from '../progress/open-look.ts'
import { openEndTeller } from '../progress/tell-end.ts'
import { earlierEvents } from './earlier-events.ts'
import { askedOf } from './run-facts.ts'
import type { SeenRun, ViewPart } from './view-part.ts'

/** A run of which only the result is seen, and why there is none. */
export async function openResultView({
  paths,
  request,
  io,
  globals,
  resumed,
}: SeenRun): Promise<ViewPart> {
  const model = createRunModel(askedOf(request))
  for await (const events of earlierEvents({ paths, resumed }))
    for (const event of events) applyEvent(model, event)
  const end = openEndTeller({
    request,
    paths,
    root: dirname(paths.folder),
    model,
    look: openLook(io, globals),
    io,
    globals,
  })
  return {
    async show(_lines, events) {
      for (const event of events()) {
        applyEvent(model, event)
        end.add(event)
      }
    },
    async sumUp() {
      await end.result()
      if (model.state !== 'completed') await end.last()
    },
  }
}
