import { useEffect, useRef, useState } from 'preact/hooks'
import type { RunState } from '../../../../src/protocol/run-state.ts'
import type { RunRow, StateCounts, ToolList, WorkflowRow } from '../../../../src/views/model/api.ts'
import { Quiet } from '../../parts/buttons.tsx'
import { getLook, Symbol } from '../../parts/state-badge.tsx'
import { timeText } from '../../parts/time.tsx'
import { useKeys } from '../../state/keys.ts'
import { keep, recall } from '../../state/preferences.ts'
import { useDocument } from '../../state/resource.ts'
import { changeQuery, goTo, replaceQuery } from '../../state/route.ts'

/** The parts of an address that choose runs, and what people call them. */
export const FILTERS = {
  tool: 'Tool',
  workflow: 'Workflow',
  caller: 'Started by',
  error: 'Error',
  since: 'Since',
  until: 'Until',
  has: 'With',
  parent: 'Part of',
} as const

/** A filter saved under a name. */
export type SavedFilter = { readonly name: string; readonly query: string }

/** What of an address chooses runs, in one order, so that the same filter always reads the same. */
export function filterQuery(query: URLSearchParams): string {
  const kept = new URLSearchParams()
  for (const name of ['state', 'text', ...Object.keys(FILTERS)])
    if (query.get(name)) kept.set(name, query.getAll(name).join(','))
  return kept.toString()
}

/**
 * Splits what was typed into words and parts that name a filter: `error:E_TIMEOUT has:artifact`.
 */
export function readTyped(text: string): {
  readonly text: string
  readonly filters: { readonly [name: string]: string }
} {
  const filters: { [name: string]: string } = {}
  const words = text.split(/\s+/).filter((word) => {
    const [, name, value] = /^(\w+):(.+)$/.exec(word) ?? []
    if (
      name === undefined ||
      value === undefined ||
      !(name === 'state' || Object.hasOwn(FILTERS, name))
    )
      return true
    filters[name] = value
    return false
  })
  return { text: words.join(' '), filters }
}

/** The filters that this browser has kept. */
export function readSaved(): readonly SavedFilter[] {
  try {
    const saved: unknown = JSON.parse(recall('filters') ?? '[]')
    return Array.isArray(saved)
      ? saved.filter(
          (one): one is SavedFilter =>
            typeof one?.name === 'string' && typeof one?.query === 'string',
        )
      : []
  } catch {
    return []
  }
}

/** Keeps filters for the next time. */
export function writeSaved(saved: readonly SavedFilter[]): void {
  keep('filters', JSON.stringify(saved))
}

const ORDER: readonly RunState[] = [
  'running',
  'waiting_ai',
  'queued',
  'completed',
  'failed',
  'cancelled',
]

/**
 * How many runs there are in each state; each number chooses its state, and once more lets it go.
 */
export function StateButtons({
  counts,
  chosen,
}: {
  readonly counts: StateCounts | undefined
  readonly chosen: readonly RunState[]
}) {
  const all = ORDER.reduce((sum, state) => sum + (counts?.[state] ?? 0), 0)
  const toggle = (state: RunState): void => {
    const next = chosen.includes(state) ? chosen.filter((one) => one !== state) : [...chosen, state]
    changeQuery({ state: next.join(',') })
  }
  return (
    <div class="states" role="group" aria-label="States">
      <button
        type="button"
        aria-pressed={chosen.length === 0}
        onClick={() => changeQuery({ state: undefined })}
      >
        all <span class="count">{all.toLocaleString('en')}</span>
      </button>
      {ORDER.map((state) => {
        const { role, symbol, word } = getLook(state)
        const amount = counts?.[state] ?? 0
        return (
          <button
            type="button"
            key={state}
            class={amount > 0 ? role : 'dim'}
            aria-pressed={chosen.includes(state)}
            onClick={() => toggle(state)}
          >
            <Symbol>{symbol}</Symbol>
            {word} <span class="count">{amount.toLocaleString('en')}</span>
          </button>
        )
      })}
    </div>
  )
}

const TYPING = 200

/** Searches in what rows say; `tool:…`, `error:…`, `has:artifact` become filters with Enter. */
export function SearchBox({ text }: { readonly text: string }) {
  const [typed, setTyped] = useState(text)
  const box = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    if (document.activeElement !== box.current) setTyped(text)
  }, [text])
  useEffect(() => () => clearTimeout(timer.current), [])
  useKeys([{ key: '/', label: 'Search', run: () => box.current?.select() }])
  const type = (value: string): void => {
    setTyped(value)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => replaceQuery({ text: value.trim() }), TYPING)
  }
  const enter = (): void => {
    clearTimeout(timer.current)
    const { text: words, filters } = readTyped(typed)
    setTyped(words)
    changeQuery({ ...filters, text: words })
  }
  return (
    <form
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        enter()
      }}
    >
      <input
        ref={box}
        type="search"
        aria-label="Search runs"
        aria-keyshortcuts="/"
        placeholder="Search ( / ), or tool:… error:… has:artifact"
        value={typed}
        onInput={(event) => type(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Escape' && box.current?.blur()}
      />
    </form>
  )
}

const PERIODS = [
  ['', 'any time'],
  ['1h', 'last hour'],
  ['24h', 'last 24 hours'],
  ['7d', 'last 7 days'],
  ['30d', 'last 30 days'],
] as const

/**
 * The filters that are more than a word: tool, workflow, who started it, time, artifacts, error.
 */
export function FilterFields({
  query,
  rows,
}: {
  readonly query: URLSearchParams
  readonly rows: readonly RunRow[]
}) {
  const tools = useDocument<ToolList>('/tools')
  const workflows = useDocument<{ readonly workflows: readonly WorkflowRow[] }>('/workflows')
  const seen = (of: (row: RunRow) => string | undefined): readonly string[] =>
    [...new Set(rows.map(of).filter((value) => value !== undefined))].sort()
  const since = query.get('since') ?? ''
  return (
    <div class="fields" role="group" aria-label="Filters">
      <Text
        name="tool"
        label="Tool"
        query={query}
        known={merge(
          tools.value?.tools.map(({ id }) => id),
          seen((row) => row.tool),
        )}
      />
      <Text
        name="workflow"
        label="Workflow"
        query={query}
        known={merge(
          workflows.value?.workflows.map(({ name }) => name),
          seen((row) => row.workflow),
        )}
      />
      <Text name="caller" label="Started by" query={query} known={seen((row) => row.caller)} />
      <Text name="error" label="Error" query={query} known={seen((row) => row.code)} />
      <label>
        Since{' '}
        <select
          aria-label="Since"
          value={since}
          onChange={(event) => changeQuery({ since: event.currentTarget.value })}
        >
          {PERIODS.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
          {!PERIODS.some(([value]) => value === since) && <option value={since}>{since}</option>}
        </select>
      </label>
      <label>
        On{' '}
        <input
          type="date"
          aria-label="On this day"
          value=""
          onChange={(event) => chooseDay(event.currentTarget.value)}
        />
      </label>
      <label>
        <input
          type="checkbox"
          checked={(query.get('has') ?? '').includes('artifact')}
          onChange={(event) =>
            changeQuery({ has: event.currentTarget.checked ? 'artifact' : undefined })
          }
        />{' '}
        with artifacts
      </label>
    </div>
  )
}

function Text({
  name,
  label,
  query,
  known,
}: {
  readonly name: string
  readonly label: string
  readonly query: URLSearchParams
  readonly known: readonly string[]
}) {
  const value = query.get(name) ?? ''
  const [typed, setTyped] = useState<string>()
  const set = (next: string): void => {
    setTyped(undefined)
    if (next.trim() !== value) changeQuery({ [name]: next.trim() })
  }
  return (
    <label>
      {label}
      <input
        aria-label={label}
        list={`known-${name}`}
        value={typed ?? value}
        size={14}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onChange={(event) => set(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Enter' && set(event.currentTarget.value)}
      />
      <datalist id={`known-${name}`}>
        {known.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </label>
  )
}

function chooseDay(day: string): void {
  const from = new Date(`${day}T00:00`)
  if (!Number.isNaN(from.getTime()))
    changeQuery({
      since: from.toISOString(),
      until: new Date(from.getTime() + 86_400_000).toISOString(),
    })
}

function merge(known: readonly string[] = [], seen: readonly string[]): readonly string[] {
  return [...new Set([...known, ...seen])].sort()
}

/** The active filters, each with a button that removes it, and the saved ones. */
export function ChosenFilters({
  query,
  search,
}: {
  readonly query: URLSearchParams
  /** The filters of the address alone. */ readonly search: string
}) {
  const [saved, setSaved] = useState(readSaved)
  const change = (next: readonly SavedFilter[]): void => {
    setSaved(next)
    writeSaved(next)
  }
  const set = Object.entries(FILTERS).flatMap(([name, label]) =>
    query.get(name) ? [{ name, label, value: query.getAll(name).join(',') }] : [],
  )
  const isKnown = saved.some((one) => one.query === search)
  if (saved.length === 0 && search === '') return null
  return (
    <div class="chosen">
      {set.map(({ name, label, value }) => (
        <span class="chip" key={name}>
          {label} <strong>{shown(value)}</strong>
          <button
            type="button"
            aria-label={`Remove the filter ${label}`}
            onClick={() => changeQuery({ [name]: undefined })}
          >
            ×
          </button>
        </span>
      ))}
      {search !== '' && <Quiet onClick={() => goTo('/runs')}>Clear all</Quiet>}
      {search !== '' && !isKnown && (
        <Save
          onSave={(name) =>
            change([...saved.filter((one) => one.name !== name), { name, query: search }])
          }
        />
      )}
      {saved.length > 0 && (
        <ul class="saved" aria-label="Saved filters">
          {saved.map((one) => (
            <li class="chip" key={one.name}>
              <a
                href={`/runs?${one.query}`}
                aria-current={one.query === search ? 'true' : undefined}
              >
                {one.name}
              </a>
              <button
                type="button"
                aria-label={`Forget the filter ${one.name}`}
                onClick={() => change(saved.filter((other) => other !== one))}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function Save({ onSave }: { onSave(name: string): void }) {
  const [name, setName] = useState<string>()
  if (name === undefined) return <Quiet onClick={() => setName('')}>Save this filter</Quiet>
  return (
    <form
      class="line"
      onSubmit={(event) => {
        event.preventDefault()
        if (name.trim() !== '') onSave(name.trim())
      }}
    >
      <input
        aria-label="Name of the filter"
        placeholder="Name"
        size={12}
        value={name}
        ref={(box) => {
          if (box && name === '') box.focus()
        }}
        onInput={(event) => setName(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Escape' && setName(undefined)}
      />
      <button type="submit" disabled={name.trim() === ''}>
        Save
      </button>
    </form>
  )
}

function shown(value: string): string {
  return /^\d{4}-\d\d-\d\dT/.test(value) ? timeText(value) : value
}
