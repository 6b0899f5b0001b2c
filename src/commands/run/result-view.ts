import { dirname } from 'node:path'
import { applyEvent } from '../../views/model/run-model/apply-event.ts'
import { createRunModel } from '../../views/model/run-model/create-run-model.ts'
import { openLook } from '../progress/open-look.ts'
import { openEndTeller } from '../progress/tell-end.ts'
import { askedOf } from './run-facts.ts'
import type { SeenRun, ViewPart } from './view-part.ts'

/** A run of which only the result is seen, and why there is none. */
export function openResultView({ paths, request, io, globals }: SeenRun): ViewPart {
  const model = createRunModel(askedOf(request))
  const end = openEndTeller({ request, paths, root: dirname(paths.folder), model, look: openLook(io, globals), io, globals })
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
