import { ToolError } from '../../../contract/tool-error.ts'
import type { Entry } from '../../../registry/entry.ts'
import type { FoundProgram } from '../../../registry/found.ts'
import type { Registry } from '../../../registry/registry-type.ts'
import { loadWorkflow } from '../../../workflow/definition/load-workflow.ts'
import type { LoadedWorkflow } from '../../../workflow/source/load-workflows.ts'
import { workflowOf } from '../../../workflow/source/workflow-of.ts'
import type { Project, Tools } from '../project.ts'

/** A tool, as it is at this moment. */
export type FreshTool = {
  readonly registry: Registry
  readonly entry: Entry
  readonly program: FoundProgram | undefined
  readonly workflow: LoadedWorkflow | undefined
}

/** Finds a tool. What is not there, or not as it was found, is looked for again first: files change while a dashboard is open. Throws NOT_FOUND, and says which was meant. */
export async function findTool(tools: Tools, name: string, project: Project): Promise<FreshTool> {
  try {
    return await look(await tools.registry(), name, project)
  } catch (error) {
    if (!ToolError.is(error)) throw error
    const registry = await tools.rescan()
    // It may belong to a source that has not answered yet.
    if (!registry.find(name)) await untilAnswered(registry)
    return look(registry, name, project)
  }
}

/** Waits until every source of a registry has answered, or given up. */
export function untilAnswered(registry: Registry): Promise<void> {
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
export async function look(
  registry: Registry,
  name: string,
  { root }: Pick<Project, 'root'>,
): Promise<FreshTool> {
  const entry = registry.find(name) as Entry | undefined
  if (!entry)
    throw (await registry.describe(name), new ToolError('NOT_FOUND', `there is no tool '${name}'`))
  await registry.prepare?.()
  return {
    registry,
    entry,
    program: await entry.found.program?.(),
    workflow: await freshWorkflow(workflowOf(entry.found), root),
  }
}

// A definition in a file is read when it is run, as by a command.
async function freshWorkflow(
  loaded: LoadedWorkflow | undefined,
  cwd: string,
): Promise<LoadedWorkflow | undefined> {
  return loaded?.file === undefined
    ? loaded
    : { ...loaded, workflow: await loadWorkflow(loaded.file, { cwd }) }
}
