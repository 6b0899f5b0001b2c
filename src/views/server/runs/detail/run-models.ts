import { parseEvent } from '../../../../runner/log/scan-log.ts'
import { applyEvent } from '../../../model/run-model/apply-event.ts'
import { createRunModel } from '../../../model/run-model/create-run-model.ts'
import type { AskedRun } from '../../../model/run-model/create-run-model.ts'
import type { RunModel } from '../../../model/run-model/run-model-type.ts'
import { openGrownFile } from '../events/grown-file.ts'
import { keepRecent } from '../recent.ts'
import { startSlices } from '../slices.ts'

const MOST_MODELS = 8

/** Models of runs. Those of the last few are kept, and grow with their records. */
export type RunModels = { read(path: string, asked: AskedRun): Promise<RunModel> }

/** Keeps none yet. */
export function openRunModels(): RunModels {
  const kept = keepRecent<() => Promise<RunModel>>(MOST_MODELS)
  return {
    // A copy: the kept one goes on.
    read: async (path, asked) =>
      structuredClone(await kept.get(path, () => startModel(path, asked))()),
  }
}

function startModel(path: string, asked: AskedRun): () => Promise<RunModel> {
  let model = createRunModel(asked)
  const file = openGrownFile(path, {
    forget: () => {
      model = createRunModel(asked)
    },
    async take(bytes) {
      const slices = startSlices()
      for (const line of bytes.toString('utf8').slice(0, -1).split('\n')) {
        const event = parseEvent(line)
        if (event) applyEvent(model, event)
        if (slices.used) await slices.rest()
      }
    },
  })
  return async () => {
    await file.catchUp()
    return model
  }
}
