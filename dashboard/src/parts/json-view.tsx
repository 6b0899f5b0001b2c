import { useState } from 'preact/hooks'
import { CopyButton, Quiet } from './buttons.tsx'

const SHOWN_AT_ONCE = 100
const LONGEST_TEXT = 2000

/** A JSON value as a tree that opens and closes; with `copy`, a button for the whole of it. */
export function JsonView({
  value,
  copy = true,
  open = 2,
}: {
  readonly value: unknown
  readonly copy?: boolean
  /** Levels that are open at first. */ readonly open?: number
}) {
  return (
    <div class="json">
      {copy && (
        <div class="corner">
          <CopyButton label="Copy as JSON" text={() => JSON.stringify(value, null, 2) ?? ''} />
        </div>
      )}
      <Value value={value} open={open} />
    </div>
  )
}

function Value({
  value,
  open,
  name,
}: {
  readonly value: unknown
  readonly open: number
  readonly name?: string
}) {
  const label = name !== undefined && <span class="name">{name}: </span>
  if (typeof value !== 'object' || value === null)
    return (
      <div class="leaf">
        {label}
        <Leaf value={value} />
      </div>
    )
  const entries = Object.entries(value)
  const [left, right] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  if (entries.length === 0)
    return (
      <div class="leaf">
        {label}
        <span class="dim">
          {left}
          {right}
        </span>
      </div>
    )
  return (
    <Branch
      label={label}
      entries={entries}
      brackets={[left, right]}
      open={open}
      isArray={Array.isArray(value)}
    />
  )
}

type BranchProps = {
  readonly label: preact.ComponentChildren
  readonly entries: readonly (readonly [string, unknown])[]
  readonly brackets: readonly [string, string]
  readonly open: number
  readonly isArray: boolean
}

function Branch({ label, entries, brackets, open, isArray }: BranchProps) {
  const [isOpen, setOpen] = useState(open > 0)
  const [shown, setShown] = useState(SHOWN_AT_ONCE)
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {label}
        <span class="dim">
          {isOpen
            ? brackets[0]
            : `${brackets[0]} ${entries.length} ${isArray ? 'items' : 'fields'} ${brackets[1]}`}
        </span>
      </summary>
      {isOpen && (
        <div class="inside">
          {entries.slice(0, shown).map(([key, item]) => (
            <Value key={key} name={key} value={item} open={open - 1} />
          ))}
          {entries.length > shown && (
            <Quiet onClick={() => setShown(shown + SHOWN_AT_ONCE * 10)}>
              {entries.length - shown} more
            </Quiet>
          )}
        </div>
      )}
      {isOpen && <div class="leaf dim">{brackets[1]}</div>}
    </details>
  )
}

function Leaf({ value }: { readonly value: unknown }) {
  const [whole, setWhole] = useState(false)
  if (typeof value !== 'string')
    return <span class={value === null ? 'dim' : typeof value}>{String(value)}</span>
  const isCut = value.length > LONGEST_TEXT && !whole
  return (
    <span class="string">
      "{isCut ? value.slice(0, LONGEST_TEXT) : value}"
      {isCut && (
        <Quiet onClick={() => setWhole(true)}>{value.length - LONGEST_TEXT} more characters</Quiet>
      )}
    </span>
  )
}
