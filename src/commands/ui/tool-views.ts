/**
 * Tools for the dashboard: rows with health and statistics, and one tool in its four forms.
 */

import { renderToolHelp } from '../../cli/help.ts'
import { writeSkill } from '../../docs/kinds/skill.ts'
import { buildDocModel } from '../../docs/model.ts'
import type { Permissions } from '../../protocol/manifest.ts'
import type { RegistryEntry } from '../../registry/catalog.ts'
import { exportTools } from '../../registry/providers.ts'
import type { Registry } from '../../registry/types.ts'
import { describeEntry, listEntry } from '../../registry/types.ts'
import { DAY_MS } from '../../util/units.ts'
import type { JsonObject } from '../../util/values.ts'
import { compact, isObject } from '../../util/values.ts'
import type { RunRow, ToolDetail, ToolList, ToolProblem, ToolRow } from '../../views/model/api.ts'
import { getLoadedWorkflow } from '../../workflow/lookup.ts'
import { toWorkflowToolName } from '../../workflow/request.ts'
import { createSingleToolView } from '../call.ts'
import { findDryRunMethod } from '../run/consent.ts'

type GetStatistics = (tool: string) => ToolStatistics

/** All tools with how they are, and what is no tool and why. */
export async function listToolRows(
  registry: Registry,
  statisticsOf: GetStatistics,
): Promise<ToolList> {
  await registry.prepare?.()
  const entries = registry.entries as readonly RegistryEntry[]
  // Rows first: a definition that cannot be used is a problem from then on.
  const tools = entries.map((entry) => toRowWithoutHealth(entry, statisticsOf))
  const problems = listProblems(registry)
  const health = createHealthLookup(problems)
  return {
    tools: tools.map((row) => ({ ...row, health: health(row) })),
    problems,
    sources: registry
      .sources()
      .map(({ name, kind, location, tools: count, problems: wrong }) => ({
        name,
        kind,
        location,
        tools: count,
        problems: wrong,
      })),
  }
}

/** One tool as the list shows it. */
function toToolRow(registry: Registry, entry: RegistryEntry, statisticsOf: GetStatistics): ToolRow {
  const row = toRowWithoutHealth(entry, statisticsOf)
  return { ...row, health: createHealthLookup(listProblems(registry))(row) }
}

/** The name under which runs of a tool are on record: those of workflows have one of their own. */
function getRecordedName({ id, found }: RegistryEntry): string {
  const loaded = getLoadedWorkflow(found)
  return loaded ? toWorkflowToolName(loaded.workflow.name) : id
}

function toRowWithoutHealth(
  entry: RegistryEntry,
  statisticsOf: GetStatistics,
): Omit<ToolRow, 'health'> {
  const { id, name, summary, source, kind, tier, location, tags, shadowed_by } = listEntry(entry)
  const { annotations, permissions } = entry.definition.metadata
  const words = describePermissions(permissions)
  const { week, runs, p50_s } = statisticsOf(getRecordedName(entry))
  return compact({
    id,
    name,
    summary,
    source,
    kind,
    tier,
    tags,
    version: entry.found.version,
    location,
    shadowed_by,
    destructive: annotations.destructive ? true : undefined,
    readonly: annotations.readOnly ? true : undefined,
    permissions: words,
    week,
    runs,
    p50_s,
  })
}

// A source that has not answered is a problem, so that its tools do not look missing.
function listProblems(registry: Registry): readonly ToolProblem[] {
  const late = registry.sources().filter(({ loading, tools }) => loading && tools === 0)
  return [
    ...registry.problems(),
    ...late.map(({ name, kind, location }): ToolProblem => ({
      source: name,
      location,
      reason: 'loading',
      message: `${kind} '${name}' has not answered yet`,
      fix: 'Wait a moment: its tools come when it answers',
      severity: 'warning',
    })),
  ]
}

function createHealthLookup(
  problems: readonly ToolProblem[],
): (row: Pick<ToolRow, 'id' | 'location' | 'source'>) => ToolRow['health'] {
  const at = new Map<string, ToolProblem[]>()
  for (const problem of problems)
    at.set(problem.location, [...(at.get(problem.location) ?? []), problem])
  return ({ id, location, source }) => {
    const own = [
      ...(at.get(id) ?? []),
      ...(location === undefined ? [] : (at.get(location) ?? [])),
    ].filter((problem) => problem.source === source)
    // One file may hold several tools: what is said about another one of them is none of ours.
    const meant = own.filter(
      ({ reason, message }) => reason !== 'unusable' || message.includes(`'${id}'`),
    )
    const worst = meant.find(({ severity }) => severity === 'error') ?? meant[0]
    return worst
      ? { state: worst.severity === 'error' ? 'broken' : 'warning', reason: worst.message }
      : { state: 'ok' }
  }
}

/** The width of help. */
const HELP_COLUMNS = 100

/**
 * One tool in its four forms: for the command line, as JSON Schema, for MCP, and as a skill. Throws
 * CONFIG where its schemas cannot be used.
 */
export async function describeTool(
  registry: Registry,
  entry: RegistryEntry,
  statisticsOf: GetStatistics,
): Promise<ToolDetail> {
  await registry.prepare?.()
  const { manifest, notes = [] } = await describeEntry(entry)
  const { description, inputSchema, outputSchema, examples, errors, permissions, annotations } =
    manifest
  const [mcp] = await exportTools('mcp', [entry])
  // A start reports it where the file of the program has changed.
  const program = await entry.found.program?.().catch(() => undefined)
  return compact({
    row: toToolRow(registry, entry, statisticsOf),
    description,
    help: await renderHelp(registry, entry),
    input_schema: inputSchema,
    output_schema: outputSchema,
    mcp: mcp as unknown as JsonObject,
    skill: await renderSkill(registry, entry),
    examples: examples.map(({ description: words, input, args }) =>
      compact({ description: words, input, args }),
    ),
    errors: Object.entries(errors).map(([code, { message }]) => ({ code, description: message })),
    permissions,
    notes,
    dry_run: (await findDryRunMethod(entry, program)) !== undefined,
    destructive: annotations.destructive === true,
    recent: statisticsOf(getRecordedName(entry)).recent,
  })
}

// As `toolable call <tool> --help` prints it outside of a terminal.
async function renderHelp(registry: Registry, entry: RegistryEntry): Promise<string> {
  const manifest = await createSingleToolView(registry, entry).sketch()
  return renderToolHelp(manifest, manifest.tools[0]!, {
    columns: HELP_COLUMNS,
    color: false,
    single: false,
  })
}

// Of a program whose only tool it is, so that every command in it is one that works.
async function renderSkill(registry: Registry, entry: RegistryEntry): Promise<string> {
  const manifest = await createSingleToolView(registry, entry).manifest()
  const [tool] = manifest.tools
  const model = buildDocModel({
    ...manifest,
    name: `toolable call ${entry.name}`,
    tools: [{ ...tool!, path: [] }],
  })
  return writeSkill({ ...model, unmarked: true })[0]!.text
}

const WEEK_DAYS = 7
/** So many durations say enough about how long a tool takes. */
const MAX_DURATIONS = 500
const MAX_RECENT = 10

/** How a tool went. */
type ToolStatistics = Pick<ToolRow, 'week' | 'runs' | 'p50_s'> & {
  readonly failed: number
  /** The newest first. */
  readonly recent: readonly RunRow[]
}

type StatisticsTotals = {
  readonly week: { ok: number; failed: number }[]
  runs: number
  failed: number
  durations: number[]
  recent: RunRow[]
}

/** Sums up runs by tool, in one pass. The function that it gives knows a tool without runs too. */
export function gatherStatistics(
  rows: readonly RunRow[],
  now: number,
): (tool: string) => ToolStatistics {
  const byTool = new Map<string, StatisticsTotals>()
  for (const row of rows) {
    const gathered = byTool.get(row.tool) ?? createTotals()
    byTool.set(row.tool, gathered)
    addRow(gathered, row, now)
  }
  return (tool) => toStatistics(byTool.get(tool) ?? createTotals())
}

function createTotals(): StatisticsTotals {
  return {
    week: Array.from({ length: WEEK_DAYS }, () => ({ ok: 0, failed: 0 })),
    runs: 0,
    failed: 0,
    durations: [],
    recent: [],
  }
}

function addRow(gathered: StatisticsTotals, row: RunRow, now: number): void {
  gathered.runs += 1
  if (row.state === 'failed') gathered.failed += 1
  const age = Math.max(0, Math.floor((now - Date.parse(row.created)) / DAY_MS))
  const day = gathered.week[WEEK_DAYS - 1 - age]
  if (day && row.state === 'completed') day.ok += 1
  if (day && row.state === 'failed') day.failed += 1
  if (
    row.state === 'completed' &&
    row.duration_s !== undefined &&
    gathered.durations.length < MAX_DURATIONS
  )
    gathered.durations.push(row.duration_s)
  const { recent } = gathered
  if (recent.length >= MAX_RECENT && recent.at(-1)!.created >= row.created) return
  const place = recent.findIndex(({ created }) => created < row.created)
  recent.splice(place === -1 ? recent.length : place, 0, row)
  recent.length = Math.min(recent.length, MAX_RECENT)
}

function toStatistics({ week, runs, failed, durations, recent }: StatisticsTotals): ToolStatistics {
  const sorted = [...durations].sort((left, right) => left - right)
  const middle = sorted[Math.floor((sorted.length - 1) / 2)]
  return compact({ week, runs, failed, recent, p50_s: middle })
}

/** What a tool may do, a few words for each right; undefined where it declares nothing. */
function describePermissions(permissions: Permissions | undefined): readonly string[] | undefined {
  if (!permissions) return undefined
  const words = [...describeFiles(permissions.filesystem), ...describeNetwork(permissions.network)]
  return words.length === 0 ? ['nothing outside its workspace'] : words
}

function describeFiles(files: Permissions['filesystem']): readonly string[] {
  if (files === 'read' || files === 'read-only') return ['read files']
  if (files === 'read-write') return ['read and write files']
  return isObject(files)
    ? [
        ...toStringList(files['read']).map((path) => `read ${path}`),
        ...toStringList(files['write']).map((path) => `write ${path}`),
      ]
    : []
}

function describeNetwork(network: Permissions['network']): readonly string[] {
  if (network === 'full') return ['the whole network']
  return isObject(network)
    ? toStringList(network['egress_allow']).map((server) => `egress ${server}`)
    : []
}

function toStringList(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []
}
