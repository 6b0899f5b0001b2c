import { keep, recall } from '../../state/preferences.ts'

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

/** A filter that somebody gave a name. */
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
