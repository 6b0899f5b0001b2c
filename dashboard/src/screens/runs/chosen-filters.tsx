import { useState } from 'preact/hooks'
import { timeText } from '../../parts/time.tsx'
import { changeQuery, goTo } from '../../state/route.ts'
import { FILTERS, readSaved, writeSaved } from './filters.ts'
import type { SavedFilter } from './filters.ts'

/**
 * The filters that are set, each with a way to take it out, and those that somebody keeps under a
 * name.
 */
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
      {search !== '' && (
        <button type="button" class="quiet" onClick={() => goTo('/runs')}>
          Clear all
        </button>
      )}
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
  if (name === undefined)
    return (
      <button type="button" class="quiet" onClick={() => setName('')}>
        Save this filter
      </button>
    )
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
