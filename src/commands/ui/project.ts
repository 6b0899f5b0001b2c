/**
 * The project that a dashboard shows: its tools as they are at this moment, and whether an input fits one.
 */

import type { StartInfo } from '../../cli/types.ts'
import { validateInput } from '../../core/validate.ts'
import { compileSchema } from '../../define/schema/compile.ts'
import { issuesToError } from '../../define/schema/issues.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { RegistryEntry } from '../../registry/catalog.ts'
import type { FoundProgram } from '../../registry/source.ts'
import type { FolderOptions } from '../../registry/sources/folder.ts'
import type { Registry } from '../../registry/types.ts'
import { SerialQueue } from '../../util/async.ts'
import type { JsonObject } from '../../util/values.ts'
import { compact } from '../../util/values.ts'
import { loadWorkflow } from '../../workflow/definition/load.ts'
import type { Workflow } from '../../workflow/definition/model.ts'
import type { LoadedWorkflow } from '../../workflow/lookup.ts'
import { getLoadedWorkflow } from '../../workflow/lookup.ts'
import { openRegistryWithWorkflows } from '../../workflow/registry.ts'
import type { RegistryOptions } from '../../workflow/workflow-types.ts'
import type { CommandContext } from '../command.ts'
import type { RegistryFlags } from '../config.ts'
import { loadRegistryOptions, pickRegistryFlags } from '../config.ts'

/** The project that a dashboard shows, and how processes for it are started. */
export type DashboardProject = CommandContext & {
  readonly now: () => number
  /** Which tools there are, as flags said. */
  readonly surroundings: RegistryFlags
  readonly started: StartInfo
  /** Where its configuration lies, or `cwd`. */
  readonly root: string
  /** The folder of its runs. */
  readonly runsFolder: string
}

/** The tools of the project, as they are now. */
export type ProjectTools = {
  /** Rejects with CONFIG while the configuration cannot be used. */
  registry(): Promise<Registry>
  /** Looks again, at the configuration too. */
  rescan(): Promise<Registry>
}

/**
 * Milliseconds that requests wait for a source. One that does not answer delays none of them; its
 * tools appear when it answers.
 */
const SOURCE_TIMEOUT_MS = 1500

/** The tools of a project as long as a dashboard is open. */
type LiveProjectTools = ProjectTools & { close(): Promise<void> }

type OpenedRegistry = {
  readonly registry: Registry
  /** What the configuration said. */
  readonly said: string
}

/**
 * Opens the registry when it is first asked for, and keeps it: folders are watched, and `rescan`
 * reads the configuration again. Every request fails while the configuration cannot be used.
 */
export function openProjectTools(
  project: Pick<DashboardProject, 'cwd' | 'env' | 'surroundings'>,
): LiveProjectTools {
  let opened: Promise<OpenedRegistry> | undefined
  const queue = new SerialQueue()
  let isClosed = false

  const load = (): Promise<RegistryOptions> => loadRegistryOptions(project.surroundings, project)
  const open = (loading: Promise<RegistryOptions>): Promise<OpenedRegistry> => {
    const opening = loading.then(async (options) => ({
      registry: await openRegistryWithWorkflows(
        watchFolders(options),
        pickRegistryFlags(project.surroundings),
        SOURCE_TIMEOUT_MS,
      ),
      said: toComparableText(options),
    }))
    opened = opening
    // The next request tries again.
    opening.catch(() => {
      if (opened === opening) opened = undefined
    })
    return opening
  }

  const rescan = async (): Promise<Registry> => {
    const before = await opened?.catch(() => undefined)
    const options = await load()
    if (before && before.said === toComparableText(options)) return before.registry.rescan()
    const { registry } = await open(Promise.resolve(options))
    await before?.registry.close()
    return registry
  }
  return {
    registry: async () => (await (opened ?? open(load()))).registry,
    rescan: () => queue.run(rescan),
    async close() {
      if (isClosed) return
      isClosed = true
      await queue.whenIdle()
      await (await opened?.catch(() => undefined))?.registry.close()
    },
  }
}

function watchFolders({ folders, ...options }: RegistryOptions): RegistryOptions {
  const watched = folders?.map((folder): FolderOptions => ({
    watch: true,
    ...(typeof folder === 'string' ? { path: folder } : folder),
  }))
  return { ...options, ...compact({ folders: watched }) }
}

// The environment stays the same as long as the process does.
function toComparableText({ env: _env, ...options }: RegistryOptions): string {
  return JSON.stringify(options)
}

/** A tool, as it is at this moment. */
export type CurrentTool = {
  readonly registry: Registry
  readonly entry: RegistryEntry
  readonly program: FoundProgram | undefined
  readonly workflow: LoadedWorkflow | undefined
}

/**
 * Finds a tool. What is not there, or not as it was found, is looked for again first: files change
 * while a dashboard is open. Throws NOT_FOUND, and says which was meant.
 */
export async function findTool(
  tools: ProjectTools,
  name: string,
  project: DashboardProject,
): Promise<CurrentTool> {
  try {
    return await findCurrentTool(await tools.registry(), name, project)
  } catch (error) {
    if (!ToolError.is(error)) throw error
    const registry = await tools.rescan()
    // It may belong to a source that has not answered yet.
    if (!registry.find(name)) await waitForSources(registry)
    return findCurrentTool(registry, name, project)
  }
}

/** Waits until every source of a registry has answered, or given up. */
export function waitForSources(registry: Registry): Promise<void> {
  const isLate = (): boolean => registry.sources().some(({ loading }) => loading)
  return new Promise((resolve) => {
    if (!isLate()) return resolve()
    const stop = registry.onChange(() => {
      if (isLate()) return
      stop()
      resolve()
    })
  })
}

/** Finds a tool in a registry that was opened just now. */
export async function findCurrentTool(
  registry: Registry,
  name: string,
  { root }: Pick<DashboardProject, 'root'>,
): Promise<CurrentTool> {
  const entry = registry.find(name) as RegistryEntry | undefined
  if (!entry)
    throw (await registry.describe(name), new ToolError('NOT_FOUND', `there is no tool '${name}'`))
  await registry.prepare?.()
  return {
    registry,
    entry,
    program: await entry.found.program?.(),
    workflow: await reloadWorkflow(getLoadedWorkflow(entry.found), root),
  }
}

// A definition in a file is read when it is run, as by a command.
async function reloadWorkflow(
  loaded: LoadedWorkflow | undefined,
  cwd: string,
): Promise<LoadedWorkflow | undefined> {
  return loaded?.file === undefined
    ? loaded
    : { ...loaded, workflow: await loadWorkflow(loaded.file, { cwd }) }
}

/** What is wrong with the input of a tool, as every surface says it; undefined where nothing is. */
export function findInputProblem(
  { entry, workflow }: Pick<CurrentTool, 'entry' | 'workflow'>,
  input: JsonObject,
  { cwd, env }: CommandContext,
): Promise<ToolError | undefined> {
  return workflow
    ? findWorkflowProblem(workflow.workflow, input)
    : validateInput(entry.definition, input, { cwd, env })
}

/** The same for a workflow, by the definition that would be executed. */
export async function findWorkflowProblem(
  { input: schema }: Workflow,
  input: JsonObject,
): Promise<ToolError | undefined> {
  const checked = schema && (await compileSchema(schema, 'input').check(input))
  return checked && !checked.ok ? issuesToError(checked.issues, { input }) : undefined
}
