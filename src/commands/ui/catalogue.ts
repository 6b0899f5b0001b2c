/**
 * What the dashboard shows besides runs: tools, workflows, previews of inputs, and the health of
 * the machine.
 */

import { lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { formatCommandLine } from '../../cli/command-line.ts'
import { toFlagName } from '../../define/argv.ts'
import { toFlagSpecs } from '../../define/flag-specs.ts'
import { getAgentEnvironment } from '../../install/agents/agent.ts'
import { isAgentUsed, loadServerAgents } from '../../install/agents/agents.ts'
import { listServers } from '../../install/servers.ts'
import { nodeVersion } from '../../process/host.ts'
import type { ToolManifest } from '../../protocol/manifest.ts'
import { isFinished } from '../../protocol/run-state.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { RegistryEntry } from '../../registry/catalog.ts'
import type { Registry } from '../../registry/types.ts'
import { takesDocument, toRunArguments } from '../../runner/request.ts'
import { waitAtMost } from '../../util/async.ts'
import { quoteCommandLine } from '../../util/text.ts'
import { DAY_MS } from '../../util/units.ts'
import type { JsonObject } from '../../util/values.ts'
import { compact, isObject } from '../../util/values.ts'
import type { DoctorReport, InputPreview, RunRow } from '../../views/model/api.ts'
import type { CatalogueSource } from '../../views/server/backend.ts'
import type { CommandContext } from '../command.ts'
import type { RegistryFlags } from '../config.ts'
import { diagnose } from '../doctor.ts'
import type { CurrentTool, DashboardProject, ProjectTools } from './project.ts'
import { findInputProblem, findTool, waitForSources } from './project.ts'
import { describeTool, gatherStatistics, listToolRows } from './tool-views.ts'
import { createStepGridReader, describeWorkflow, listWorkflowRows } from './workflow-views.ts'

type CatalogueOptions = {
  readonly project: DashboardProject
  readonly tools: ProjectTools
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
  const grid = createStepGridReader(project.runsFolder)
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
    tools: async () => listToolRows(await tools.registry(), statistics()),
    tool: async (id) => {
      const registry = await tools.registry()
      return describeTool(registry, await requireEntry(registry, id), statistics())
    },
    preview: async (id, input) => previewInput(await findTool(tools, id, project), input, project),
    rescan: async () => listToolRows(await tools.rescan(), statistics()),
    workflows: async () => ({ workflows: listWorkflowRows(await tools.registry(), rowsOf()) }),
    workflow: async (name) =>
      describeWorkflow(await tools.registry(), name, { root: project.root, rows: rowsOf(), grid }),
    // A diagnosis starts sandboxes, so requests at the same time share one.
    doctor: () =>
      (report ??= createDoctorReport(project, version, disk(rowsOf(), project.now())).finally(
        () => (report = undefined),
      )),
  }
}

async function requireEntry(registry: Registry, id: string): Promise<RegistryEntry> {
  // It may belong to a source that has not answered yet.
  if (!registry.find(id)) await waitForSources(registry)
  const entry = registry.find(id) as RegistryEntry | undefined
  if (entry) return entry
  // Fails, and says which was meant.
  throw (
    await registry.describe(id),
    new ToolError('NOT_FOUND', `there is no tool '${id.slice(0, 100)}'`)
  )
}

/** What an input would mean: what is wrong with it, where, and the command that is the same. */
async function previewInput(
  tool: CurrentTool,
  input: JsonObject,
  project: DashboardProject,
): Promise<InputPreview> {
  const { manifest } = await tool.entry.definition.compiled()
  const problem = await findInputProblem(tool, input, project)
  const problems = problem ? toPreviewProblems(problem) : []
  const json = JSON.stringify({ tool: tool.entry.id, input }, undefined, 2)
  try {
    const command = toRunCommandLine(tool, manifest, input, project.surroundings)
    return { ok: problems.length === 0, problems, command, json }
  } catch (error) {
    if (!ToolError.is(error)) throw error
    const found = problems.length > 0 ? problems : toPreviewProblems(error)
    return { ok: false, problems: found, command: '', json }
  }
}

function toPreviewProblems({ field = '', message, details }: ToolError): InputPreview['problems'] {
  const { issues } = details ?? {}
  const problems = (Array.isArray(issues) ? issues : [])
    .filter(isObject)
    .map((issue) => ({ path: String(issue['path']), message: String(issue['message']) }))
  return problems.length > 0 ? problems : [{ path: field, message }]
}

/**
 * The command that runs a tool with an input, to be pasted where the dashboard was started. Throws
 * INVALID_INPUT for what no command line can carry.
 */
function toRunCommandLine(
  { entry: { name }, program }: Pick<CurrentTool, 'entry' | 'program'>,
  manifest: ToolManifest,
  input: JsonObject,
  surroundings: RegistryFlags,
): string {
  const before = [
    'run',
    ...toRegistryArguments(surroundings),
    ...(manifest.annotations.destructive ? ['--yes'] : []),
    name,
  ]
  const { form, stdin, warm } = program?.call ?? {}
  // Our own programs read flags as we do; those of others may know JSON only.
  if (takesDocument(program?.call) || (form === 'toolable' && (stdin || warm)))
    return formatCommandLine('toolable', before, toFlagSpecs(manifest), input)
  return quoteCommandLine(['toolable', ...before, ...toRunArguments({ input }, program?.call).args])
}

function toRegistryArguments({
  config,
  folder = [],
  strict,
  probeUnsandboxed,
  cache,
}: RegistryFlags): readonly string[] {
  return [
    ...(config === undefined ? [] : ['--config', config]),
    ...folder.flatMap((one) => ['--folder', one]),
    ...(strict ? ['--strict'] : []),
    ...(probeUnsandboxed ? [`--${toFlagName('probeUnsandboxed')}`] : []),
    ...(cache === false ? ['--no-cache'] : []),
  ]
}

/** The name under which this program stands in the configuration of agents. */
const PROGRAM_NAME = 'toolable'

/** How this machine and this project are, and which agents could use the tools. */
async function createDoctorReport(
  where: CommandContext,
  version: string,
  disk: Promise<DoctorReport['disk']>,
): Promise<DoctorReport> {
  const [{ level, enough, findings }, agents, usage] = await Promise.all([
    diagnose({}, where),
    listAgents(where),
    disk,
  ])
  return { level, enough, findings, disk: usage, agents, version, node: nodeVersion }
}

async function listAgents({ cwd, env }: CommandContext): Promise<DoctorReport['agents']> {
  const where = { cwd, env }
  const here = getAgentEnvironment(where)
  const scopes = ['project', 'user'] as const
  const known = await loadServerAgents()
  const listed = await listServers(known, scopes, PROGRAM_NAME, undefined, here)
  return known.map((agent) => {
    const installed = listed.some(
      ({ agent: name, state }) =>
        name === agent.name && (state === 'installed' || state === 'edited'),
    )
    return compact({
      name: agent.name,
      found: isAgentUsed(agent, here),
      installed,
      command: !installed ? `toolable mcp add --agent ${agent.name}` : undefined,
    })
  })
}

/** A block is what the kernel counts in, whatever the file system. */
const BLOCK_BYTES = 512
/** Files of one run that are counted. */
const MAX_ENTRIES = 20_000
/** Milliseconds that a request waits for a count, which continues for the next request. */
const MAX_WAIT_MS = 3000
/** From this age on a run is old. */
const OLD_DAYS = 7

/**
 * The bytes that a folder takes on the disk, links not followed; of one with very many files the
 * first ones. What cannot be read counts nothing.
 */
export async function getFolderBytes(folder: string): Promise<number> {
  let bytes = 0
  let entries = 0
  const waiting = [folder]
  for (
    let path = waiting.pop();
    path !== undefined && entries < MAX_ENTRIES;
    path = waiting.pop()
  ) {
    try {
      for await (const entry of await opendir(path)) {
        if ((entries += 1) > MAX_ENTRIES) break
        const inside = join(path, entry.name)
        if (entry.isDirectory()) waiting.push(inside)
        else bytes += (await lstat(inside)).blocks * BLOCK_BYTES
      }
    } catch {
      /* it is gone, or not ours to read */
    }
  }
  return bytes
}

/** Counts what runs take on the disk, in the background and each run that is over only once. */
function createDiskUsage(
  root: string,
): (rows: readonly RunRow[], now: number) => Promise<DoctorReport['disk']> {
  const counted = new Map<string, { readonly ended: string | undefined; readonly bytes: number }>()
  let counting: Promise<void> | undefined

  const countAll = async (rows: readonly RunRow[]): Promise<void> => {
    const there = new Set(rows.map(({ run_id: id }) => id))
    for (const id of counted.keys()) if (!there.has(id)) counted.delete(id)
    for (const { run_id: id, ended, state } of rows) {
      const before = counted.get(id)
      if (before && isFinished(state) && before.ended === ended) continue
      counted.set(id, { ended, bytes: await getFolderBytes(join(root, id)) })
    }
  }
  return async (all, now) => {
    const rows = all.filter(({ light }) => !light)
    counting ??= countAll(rows).finally(() => (counting = undefined))
    await waitAtMost(MAX_WAIT_MS, counting)
    const old = rows.filter(
      ({ state, created, ended }) =>
        isFinished(state) && Date.parse(ended ?? created) < now - OLD_DAYS * DAY_MS,
    )
    const sum = (some: readonly RunRow[]): number =>
      some.reduce((bytes, { run_id: id }) => bytes + (counted.get(id)?.bytes ?? 0), 0)
    return {
      folder: root,
      runs: rows.length,
      bytes: sum(rows),
      old: { runs: old.length, bytes: sum(old), days: OLD_DAYS },
    }
  }
}
