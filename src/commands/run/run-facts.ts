import { join } from 'node:path'
import { isObject } from '../../contract/json.ts'
import type { RunEvent } from '../../contract/run-state.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import type { AskedRun } from '../../views/model/run-model/create-run-model.ts'
import { startSummary } from '../../views/model/summary/summarize.ts'
import type { Asked, SummaryBuilder } from '../../views/model/summary/summarize.ts'
import type { RunSummary } from '../../views/model/summary/summary.ts'
import { shortest } from '../progress/read-tail.ts'

/** A summary for whoever may have missed the beginning: a run that is resumed begins here with the end of what nobody has seen. */
export function startFacts(request: Asked): SummaryBuilder {
  let summary = startSummary(request)
  let isFirst = true
  return {
    add(event: RunEvent) {
      if (isFirst && event.attempt > 1)
        summary = startSummary(request, { state: 'failed', attempt: event.attempt - 1, open: [] })
      isFirst = false
      summary.add(event)
    },
    current: () => summary.current(),
  }
}

/** The artifacts of a run that are in its folder, under paths that can be pasted here. */
export function keptFiles(
  { artifacts = [] }: RunSummary,
  paths: RunPaths,
  cwd: string,
): readonly { readonly path: string; readonly bytes?: number }[] {
  return artifacts.flatMap((artifact) => {
    if (
      !isObject(artifact) ||
      typeof artifact['path'] !== 'string' ||
      artifact['sha256'] === undefined
    )
      return []
    const { bytes } = artifact
    return [
      {
        path: shortest(cwd, join(paths.artifacts, artifact['path'])),
        ...(typeof bytes === 'number' && { bytes }),
      },
    ]
  })
}

/** What a model has to know of a request. */
export function askedOf({
  run_id,
  tool,
  created,
  command,
  heartbeat_grace_s: grace,
}: Pick<RunRequest, 'run_id' | 'tool' | 'created' | 'command' | 'heartbeat_grace_s'>): AskedRun {
  return {
    run_id,
    tool,
    created,
    workflow: command === 'workflow',
    ...(grace !== undefined && { heartbeat_grace_s: grace }),
  }
}
