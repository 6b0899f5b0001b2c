import type { Entry } from '../../../registry/entry.ts'
import { listEntry } from '../../../registry/describe.ts'
import type { Registry } from '../../../registry/registry-type.ts'
import type { ToolList, ToolProblem, ToolRow } from '../../../views/model/wire/tools.ts'
import { toolNameOf } from '../../../workflow/run/make-workflow-request.ts'
import { workflowOf } from '../../../workflow/source/workflow-of.ts'
import { permissionWords } from './permission-words.ts'
import type { ToolStatistics } from './statistics.ts'

type StatisticsOf = (tool: string) => ToolStatistics

/** All tools with how they are, and what is no tool and why. */
export async function listTools(registry: Registry, statisticsOf: StatisticsOf): Promise<ToolList> {
  await registry.prepare?.()
  const entries = registry.entries as readonly Entry[]
  // Rows first: a definition that cannot be used is a problem from then on.
  const tools = entries.map((entry) => factsOf(entry, statisticsOf))
  const problems = listProblems(registry)
  const health = healthOf(problems)
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
export function toolRow(registry: Registry, entry: Entry, statisticsOf: StatisticsOf): ToolRow {
  const row = factsOf(entry, statisticsOf)
  return { ...row, health: healthOf(listProblems(registry))(row) }
}

/** The name under which runs of a tool are on record: those of workflows have one of their own. */
export function recordedName({ id, found }: Entry): string {
  const loaded = workflowOf(found)
  return loaded ? toolNameOf(loaded.workflow.name) : id
}

function factsOf(entry: Entry, statisticsOf: StatisticsOf): Omit<ToolRow, 'health'> {
  const { id, name, summary, source, kind, tier, location, tags, shadowed_by } = listEntry(entry)
  const { annotations, permissions } = entry.definition.facts
  const words = permissionWords(permissions)
  const { week, runs, p50_s } = statisticsOf(recordedName(entry))
  return {
    id,
    name,
    summary,
    source,
    kind,
    tier,
    tags,
    ...(entry.found.version !== undefined && { version: entry.found.version }),
    ...(location !== undefined && { location }),
    ...(shadowed_by !== undefined && { shadowed_by }),
    ...(annotations.destructive && { destructive: true }),
    ...(annotations.readOnly && { readonly: true }),
    ...(words && { permissions: words }),
    week,
    runs,
    ...(p50_s !== undefined && { p50_s }),
  }
}

// A source that has not answered is told, so that nobody takes its tools for missing.
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

function healthOf(
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
