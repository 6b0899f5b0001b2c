import type { Entry } from '../../../registry/entry.ts'
import type { Registry } from '../../../registry/registry-type.ts'
import { ToolError } from '../../../contract/tool-error.ts'
import type { DoctorReport } from '../../../views/model/wire/others.ts'
import type { RunRow } from '../../../views/model/wire/run-row.ts'
import type { CatalogueSource } from '../../../views/server/backend.ts'
import { findTool, untilAnswered } from '../actions/find-tool.ts'
import type { Project, Tools } from '../project.ts'
import { createDiskUsage } from './disk-usage.ts'
import { reportHealth } from './doctor-report.ts'
import { previewInput } from './preview.ts'
import { gatherStatistics } from './statistics.ts'
import { createGrids } from './step-grid.ts'
import { describeTool } from './tool-detail.ts'
import { listTools } from './tool-rows.ts'
import { describeWorkflow } from './workflow-detail.ts'
import { listWorkflows } from './workflow-rows.ts'

export type CatalogueOptions = {
  readonly project: Project
  readonly tools: Tools
  /** All runs that are known at this moment. */
  rowsOf(): readonly RunRow[]
  readonly version: string
  readonly readOnly: boolean
  readonly epoch: string
}

/** What a project has besides runs: its tools and workflows, and how the machine is. */
export function openCatalogue({
  project,
  tools,
  rowsOf,
  version,
  readOnly,
  epoch,
}: CatalogueOptions): CatalogueSource {
  const grid = createGrids(project.runsFolder)
  const disk = createDiskUsage(project.runsFolder)
  const statistics = (): ReturnType<typeof gatherStatistics> =>
    gatherStatistics(rowsOf(), project.now())
  let report: Promise<DoctorReport> | undefined
  return {
    about: () => ({
      name: 'toolable',
      version,
      project: project.root,
      runs_folder: project.runsFolder,
      read_only: readOnly,
      epoch,
      now: new Date(project.now()).toISOString(),
    }),
    tools: async () => listTools(await tools.registry(), statistics()),
    tool: async (id) => {
      const registry = await tools.registry()
      return describeTool(registry, await known(registry, id), statistics())
    },
    preview: async (id, input) => previewInput(await findTool(tools, id, project), input, project),
    rescan: async () => listTools(await tools.rescan(), statistics()),
    workflows: async () => ({ workflows: listWorkflows(await tools.registry(), rowsOf()) }),
    workflow: async (name) =>
      describeWorkflow(await tools.registry(), name, { root: project.root, rows: rowsOf(), grid }),
    // A diagnosis starts sandboxes: whoever asks meanwhile gets the same one.
    doctor: () =>
      (report ??= reportHealth(project, version, disk(rowsOf(), project.now())).finally(
        () => (report = undefined),
      )),
  }
}

async function known(registry: Registry, id: string): Promise<Entry> {
  // It may belong to a source that has not answered yet.
  if (!registry.find(id)) await untilAnswered(registry)
  const entry = registry.find(id) as Entry | undefined
  if (entry) return entry
  // Fails, and says which was meant.
  throw (
    await registry.describe(id),
    new ToolError('NOT_FOUND', `there is no tool '${id.slice(0, 100)}'`)
  )
}
