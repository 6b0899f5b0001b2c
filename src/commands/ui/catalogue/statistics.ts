import type { RunRow } from '../../../views/model/wire/run-row.ts'
import type { ToolRow } from '../../../views/model/wire/tools.ts'

const DAY_MS = 24 * 3600 * 1000
const DAYS = 7
/** So many durations say enough about how long a tool takes. */
const MOST_DURATIONS = 500
const MOST_RECENT = 10

/** How a tool went. */
export type ToolStatistics = Pick<ToolRow, 'week' | 'runs' | 'p50_s'> & {
  readonly failed: number
  /** The newest first. */ readonly recent: readonly RunRow[]
}

type Gathered = {
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
  const byTool = new Map<string, Gathered>()
  for (const row of rows) {
    const gathered = byTool.get(row.tool) ?? empty()
    byTool.set(row.tool, gathered)
    take(gathered, row, now)
  }
  return (tool) => finish(byTool.get(tool) ?? empty())
}

function empty(): Gathered {
  return {
    week: Array.from({ length: DAYS }, () => ({ ok: 0, failed: 0 })),
    runs: 0,
    failed: 0,
    durations: [],
    recent: [],
  }
}

function take(gathered: Gathered, row: RunRow, now: number): void {
  gathered.runs += 1
  if (row.state === 'failed') gathered.failed += 1
  const age = Math.max(0, Math.floor((now - Date.parse(row.created)) / DAY_MS))
  const day = gathered.week[DAYS - 1 - age]
  if (day && row.state === 'completed') day.ok += 1
  if (day && row.state === 'failed') day.failed += 1
  if (
    row.state === 'completed' &&
    row.duration_s !== undefined &&
    gathered.durations.length < MOST_DURATIONS
  )
    gathered.durations.push(row.duration_s)
  const { recent } = gathered
  if (recent.length >= MOST_RECENT && recent.at(-1)!.created >= row.created) return
  const place = recent.findIndex(({ created }) => created < row.created)
  recent.splice(place === -1 ? recent.length : place, 0, row)
  recent.length = Math.min(recent.length, MOST_RECENT)
}

function finish({ week, runs, failed, durations, recent }: Gathered): ToolStatistics {
  const sorted = [...durations].sort((left, right) => left - right)
  const middle = sorted[Math.floor((sorted.length - 1) / 2)]
  return { week, runs, failed, recent, ...(middle !== undefined && { p50_s: middle }) }
}
