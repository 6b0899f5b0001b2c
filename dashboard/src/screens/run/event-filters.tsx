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
      <Choice
        label="Type"
        all="all types"
        value={query.get('etype')}
        options={Object.entries(types)
          .sort(([left], [right]) => left.localeCompare(right))
          .map(([type, count]) => [type, `${type} (${count})`])}
        onChange={(type) => set('etype', type)}
      />
      <Choice
        label="Level"
        all="all levels"
        value={query.get('level')}
        options={LEVELS.map((level) => [level, level])}
        onChange={(level) => set('level', level)}
      />
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

type ChoiceProps = {
  readonly label: string
  /** What the first option, which chooses nothing, is called. */
  readonly all: string
  readonly value: string | null
  readonly options: readonly (readonly [value: string, text: string])[]
  onChange(value: string): void
}

function Choice({ label, all, value, options, onChange }: ChoiceProps) {
  return (
    <select
      aria-label={label}
      value={value ?? ''}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      {[['', all] as const, ...options].map(([option, text]) => (
        <option key={option} value={option}>
          {text}
        </option>
      ))}
    </select>
  )
}

/** A search field that reports its text when the user stops typing. */
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
