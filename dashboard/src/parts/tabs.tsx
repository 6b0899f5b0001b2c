import type { ComponentChildren } from 'preact'
import { replaceQuery, route } from '../state/route.ts'

/** A tab: its name in the address, its label, and how many things are behind it. */
export type Tab = {
  readonly id: string
  readonly label: string
  readonly count?: number | undefined
}

type Props = {
  readonly items: readonly Tab[]
  readonly name?: string
  readonly label?: string
  /** The one that is open where the address names none; default: the first. */ readonly first?:
    string | undefined
}

/** Tabs whose choice stands in the address, under `name`. */
export function Tabs({ items, name = 'tab', label = 'Views', first }: Props) {
  const current = chosenTab(items, name, first)
  const choose = (id: string): void =>
    replaceQuery({ [name]: id === (first ?? items[0]?.id) ? undefined : id })
  const step = (event: KeyboardEvent): void => {
    const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (move === undefined) return
    event.preventDefault()
    const next =
      items[(items.findIndex(({ id }) => id === current) + move + items.length) % items.length]
    if (!next) return
    choose(next.id)
    document.getElementById(`${name}-${next.id}`)?.focus()
  }
  return (
    <div role="tablist" aria-label={label} class="tabs" onKeyDown={step}>
      {items.map(({ id, label: text, count }) => (
        <button
          type="button"
          role="tab"
          key={id}
          id={`${name}-${id}`}
          aria-selected={id === current}
          aria-controls={`${name}-panel`}
          tabIndex={id === current ? 0 : -1}
          onClick={() => choose(id)}
        >
          {text}
          {count !== undefined && <span class="count">{count.toLocaleString('en')}</span>}
        </button>
      ))}
    </div>
  )
}

/** The tab that the address names; `first` where it names none. */
export function chosenTab(items: readonly Tab[], name = 'tab', first?: string): string {
  const asked = route.value.query.get(name)
  return (
    (items.find(({ id }) => id === asked) ?? items.find(({ id }) => id === first) ?? items[0])
      ?.id ?? ''
  )
}

/** What is behind the chosen tab. */
export function TabPanel({
  items,
  name = 'tab',
  first,
  children,
}: Omit<Props, 'label'> & { readonly children?: ComponentChildren }) {
  return (
    <div
      role="tabpanel"
      id={`${name}-panel`}
      aria-labelledby={`${name}-${chosenTab(items, name, first)}`}
      class="panel-of-tab"
    >
      {children}
    </div>
  )
}
