import type { FolderOptions, Registry } from '../../../registry/registry-type.ts'
import { openWithWorkflows } from '../../../workflow/source/registry.ts'
import type { RegistryOptions } from '../../../workflow/source/options.ts'
import { loadOptions } from '../../config/load.ts'
import { surroundingsOf } from '../../run/surroundings.ts'
import type { Project, Tools } from '../project.ts'

/** Milliseconds that a source has to answer before everybody goes on without it: what is dead delays nobody, and comes when it lives. */
const PATIENCE = 1500

/** The tools of a project as long as a dashboard is open. */
export type LiveTools = Tools & { close(): Promise<void> }

type Opened = {
  readonly registry: Registry
  /** What the configuration said. */ readonly said: string
}

/** Opens the registry when it is first asked for, and keeps it: folders are watched, and `rescan` reads the configuration anew. A configuration that cannot be used is an error of everybody who asks, until it can. */
export function openTools(project: Pick<Project, 'cwd' | 'env' | 'surroundings'>): LiveTools {
  let opened: Promise<Opened> | undefined
  let turn: Promise<unknown> = Promise.resolve()
  let isClosed = false

  const load = (): Promise<RegistryOptions> => loadOptions(project.surroundings, project)
  const open = (loading: Promise<RegistryOptions>): Promise<Opened> => {
    const opening = loading.then(async (options) => ({
      registry: await openWithWorkflows(
        watched(options),
        surroundingsOf(project.surroundings),
        PATIENCE,
      ),
      said: textOf(options),
    }))
    opened = opening
    // The next one who asks tries again.
    opening.catch(() => {
      if (opened === opening) opened = undefined
    })
    return opening
  }

  const rescan = async (): Promise<Registry> => {
    const before = await opened?.catch(() => undefined)
    const options = await load()
    if (before && before.said === textOf(options)) return before.registry.rescan()
    const { registry } = await open(Promise.resolve(options))
    await before?.registry.close()
    return registry
  }
  return {
    registry: async () => (await (opened ?? open(load()))).registry,
    rescan: () => {
      const done = turn.then(rescan, rescan)
      turn = done
      return done
    },
    async close() {
      if (isClosed) return
      isClosed = true
      await turn.catch(() => undefined)
      await (await opened?.catch(() => undefined))?.registry.close()
    },
  }
}

function watched({ folders, ...options }: RegistryOptions): RegistryOptions {
  return {
    ...options,
    ...(folders && {
      folders: folders.map((folder): FolderOptions => ({
        watch: true,
        ...(typeof folder === 'string' ? { path: folder } : folder),
      })),
    }),
  }
}

// The environment stays the same as long as the process does.
function textOf({ env: _env, ...options }: RegistryOptions): string {
  return JSON.stringify(options)
}
