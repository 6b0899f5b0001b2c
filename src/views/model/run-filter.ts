/**
 * The filter of the list of runs, as the query of the page says it.
 */

import type { RunState } from '../../protocol/run-state.ts'
import { RUN_STATES } from '../../protocol/run-state.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../util/units.ts'
import { compact } from '../../util/values.ts'
import type { RunRow } from './api.ts'

/** Which runs to show, as the address of the page says it. Absent fields match everything. */
export type RunFilter = {
  readonly states?: readonly RunState[]
  readonly tool?: string
  readonly workflow?: string
  readonly caller?: string
  /** Milliseconds. */
  readonly since?: number
  readonly until?: number
  /** Every word of it is somewhere in the row. */
  readonly words?: readonly string[]
  readonly has?: readonly ('artifact' | 'question')[]
  readonly error?: string
  readonly parent?: string
}

const UNIT_MS: { readonly [unit: string]: number } = {
  s: SECOND_MS,
  m: MINUTE_MS,
  h: HOUR_MS,
  d: DAY_MS,
  w: 7 * DAY_MS,
}

/**
 * Reads a filter from the query of an address; what makes no sense is left out. `since` and `until`
 * are times, or so long ago: `2h`, `7d`.
 */
export function parseRunFilter(query: URLSearchParams, now: number): RunFilter {
  const states = parseList(query, 'state').filter((state): state is RunState =>
    (RUN_STATES as readonly string[]).includes(state),
  )
  const has = parseList(query, 'has').filter(
    (what): what is 'artifact' | 'question' => what === 'artifact' || what === 'question',
  )
  const words = (query.get('text') ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  const text = (name: string): string | undefined => query.get(name) || undefined
  return compact({
    states: states.length > 0 ? states : undefined,
    has: has.length > 0 ? has : undefined,
    words: words.length > 0 ? words : undefined,
    tool: text('tool'),
    workflow: text('workflow'),
    caller: text('caller'),
    error: text('error'),
    parent: text('parent'),
    since: parseTime(query.get('since'), now),
    until: parseTime(query.get('until'), now),
  })
}

/** Whether a row is one of those that a filter means; with `anyState`, its state is not asked. */
export function matchesRunFilter(
  filter: RunFilter,
  row: RunRow,
  { anyState = false }: { readonly anyState?: boolean } = {},
): boolean {
  const { states, tool, workflow, caller, since, until, words, has, error, parent } = filter
  if (states && !anyState && !states.includes(row.state)) return false
  if (tool !== undefined && row.tool !== tool && !row.tool.endsWith(`.${tool}`)) return false
  if (workflow !== undefined && row.workflow !== workflow) return false
  if (caller !== undefined && row.caller !== caller) return false
  if (parent !== undefined && row.parent?.run_id !== parent) return false
  if (error !== undefined && row.code !== error && row.code !== `E_${error}`) return false
  if (has?.includes('artifact') && row.artifacts === 0) return false
  if (has?.includes('question') && row.questions === 0) return false
  if (since !== undefined && Date.parse(row.created) < since) return false
  if (until !== undefined && Date.parse(row.created) > until) return false
  return words === undefined || containsWords(row, words)
}

function containsWords(
  { run_id, tool, caller, code, message, last }: RunRow,
  words: readonly string[],
): boolean {
  const text = [run_id, tool, caller, code, message, last].join('\n').toLowerCase()
  return words.every((word) => text.includes(word))
}

/** The values of a parameter that may be given several times, and several at a time with commas. */
export function parseList(query: URLSearchParams, name: string): string[] {
  return query
    .getAll(name)
    .flatMap((value) => value.split(','))
    .map((value) => value.trim())
    .filter(Boolean)
}

function parseTime(text: string | null, now: number): number | undefined {
  if (text === null || text === '') return undefined
  const [, count, unit = ''] = /^(\d{1,6})([smhdw])$/.exec(text) ?? []
  if (count !== undefined) return now - Number(count) * UNIT_MS[unit]!
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : at
}
