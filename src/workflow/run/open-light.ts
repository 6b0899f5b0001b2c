import type { RunEvent } from '../../contract/run-state.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import { followExecution } from '../engines/embedded/light/follow-execution.ts'
import { lightPaths } from '../engines/embedded/light/light-paths.ts'
import { findExecution } from '../engines/embedded/light/look-up.ts'
import { startLightEvents } from './light-events.ts'
import { toolNameOf } from './make-workflow-request.ts'
import { hasNoFolder } from '../../runner/folder/has-no-folder.ts'

/** An execution that has no folder of its own, where commands look for a run. */
export type LightRun = {
  readonly request: Pick<RunRequest, 'run_id' | 'tool' | 'created'>
  /** Its events; with `follow` until it is over, or goes on as a run of its own: then the last thing told is no end. */
  events(how: {
    readonly follow: boolean
    readonly signal: AbortSignal
  }): AsyncGenerator<RunEvent[]>
}

/** The execution that a word means, its whole id; undefined where there is none, or it is a run of its own. */
export async function findLight(root: string, word: string): ReturnType<typeof findExecution> {
  return hasNoFolder(root, word) ? findExecution(lightPaths(root), word) : undefined
}

/** The same, for whoever looks on. */
export async function openLight(root: string, word: string): Promise<LightRun | undefined> {
  const found = await findLight(root, word)
  if (!found) return undefined
  const {
    listed,
    execution: { id, name, created },
  } = found
  return {
    request: { run_id: id, tool: toolNameOf(name), created },
    async *events(how) {
      const events = startLightEvents(id)
      for (let told = 0; ;) {
        let place = 0
        for await (const records of followExecution(lightPaths(root), listed, how)) {
          const fresh = records.slice(Math.max(0, told - place))
          place += records.length
          told = Math.max(told, place)
          yield fresh.flatMap((record) => events.of(record))
          if (fresh.some(({ t }) => t === 'end' || t === 'moved')) return
        }
        const now = how.signal.aborted ? undefined : (await findLight(root, id))?.execution
        if (now?.error && now.ended === undefined) yield [...events.interrupted()]
        // Somebody may have taken it up meanwhile, and goes on in the same file.
        if (!how.follow || !now || now.error) return
      }
    },
  }
}
