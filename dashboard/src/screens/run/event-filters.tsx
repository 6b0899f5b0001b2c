import { useEffect, useState } from 'preact/hooks'
import { Quiet } from '../../parts/buttons.tsx'
import { replaceQuery, route } from '../../state/route.ts'
import type { Selection } from './selection.ts'
import { selectStep } from './selection.ts'

const LEVELS = ['error', 'warn', 'info', 'debug'] as const
const PAUSE_MS = 200

type Props = {
  /** How many there are of each type. */
  readonly types: { readonly [type: string]: number }
  readonly selection: Selection
  readonly shown: number
  readonly total: number
  readonly live: boolean
  readonly follows: boolean
  onFollow(follows: boolean): void
}

/** Which events are shown; the address holds it. */
export function EventFilters({ types, selection, shown, total, live, follows, onFollow }: Props) {
  const { query } = route.value
  const set = (name: string, value: string): void =>
    replaceQuery({ [name]: value, event: undefined })
  return (
    <div class="line filters" role="search" aria-label="Filter the events">
      <select
        aria-label="Type"
        value={query.get('etype') ?? ''}
        onChange={(event) => set('etype', event.currentTarget.value)}
      >
        <option value="">all types</option>
        {Object.entries(types)
          .sort(([left], [right]) => left.localeCompare(right))
          .map(([type, count]) => (
            <option key={type} value={type}>
              {type} ({count})
            </option>
          ))}
      </select>
      <select
        aria-label="Level"
        value={query.get('level') ?? ''}
        onChange={(event) => set('level', event.currentTarget.value)}
      >
        <option value="">all levels</option>
        {LEVELS.map((level) => (
          <option key={level} value={level}>
            {level}
          </option>
        ))}
      </select>
      <SearchField
        label="Text"
        value={query.get('text') ?? ''}
        onChange={(text) => set('text', text)}
      />
      {selection.step !== undefined && (
        <span class="chip">
          step {selection.step}
          <Quiet aria-label="All steps" onClick={() => selectStep(undefined)}>
            ✕
          </Quiet>
        </span>
      )}
      {selection.range && (
        <span class="chip">
          in the chosen range
          <Quiet aria-label="All times" onClick={() => replaceQuery({ range: undefined })}>
            ✕
          </Quiet>
        </span>
      )}
      <span class="push dim number" role="status">
        {shown === total ? '' : `${shown.toLocaleString('en')} of `}
        {total.toLocaleString('en')} events
      </span>
      {live && (
        <button type="button" aria-pressed={follows} onClick={() => onFollow(!follows)}>
          {follows ? 'Pause' : 'Follow'}
        </button>
      )}
    </div>
  )
}

/** A text to look for, told when somebody stops typing. */
export function SearchField({
  label,
  value,
  onChange,
  placeholder = 'contains …',
}: {
  readonly label: string
  readonly value: string
  onChange(value: string): void
  readonly placeholder?: string
}) {
  const [text, setText] = useState(value)
  useEffect(() => setText(value), [value])
  useEffect(() => {
    if (text === value) return undefined
    const timer = setTimeout(() => onChange(text), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={placeholder}
      value={text}
      onInput={(event) => setText(event.currentTarget.value)}
    />
  )
}
