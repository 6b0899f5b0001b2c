import { useState } from 'preact/hooks'
import type { RunRow, ToolList, WorkflowRow } from '../../../../src/views/model/api.ts'
import { changeQuery } from '../../state/route.ts'
import { useDocument } from '../../state/resource.ts'

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
