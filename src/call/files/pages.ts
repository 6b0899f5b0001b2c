import type { Page, PageOptions } from '../../contract/filesystem.ts'
import { ToolError } from '../../contract/tool-error.ts'

const MOST_ITEMS = 1_000

/** The part of a list that is wanted. Throws INVALID_INPUT for a part that cannot be. */
export function readPage({ offset = 0, limit = MOST_ITEMS }: PageOptions = {}): {
  readonly offset: number
  readonly limit: number
} {
  if (!Number.isSafeInteger(offset) || offset < 0)
    throw new ToolError(
      'INVALID_INPUT',
      `'offset' must be a whole number from 0, not ${String(offset)}`,
      { field: 'offset' },
    )
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new ToolError(
      'INVALID_INPUT',
      `'limit' must be a whole number from 1, not ${String(limit)}`,
      { field: 'limit' },
    )
  return { offset, limit }
}

/** The part of a whole list that is wanted. */
export function pageOf<Item>(all: readonly Item[], wanted: PageOptions | undefined): Page<Item> {
  const { offset, limit } = readPage(wanted)
  return makePage(all.slice(offset, offset + limit), all.length, offset)
}

/** A part of a list of which only the number of all items is known. */
export function makePage<Item>(items: readonly Item[], total: number, offset: number): Page<Item> {
  const next = offset + items.length
  return { items, total, ...(items.length > 0 && next < total && { next }) }
}
