/**
 * The differences between two JSON values.
 */

import { compact } from '../../util/values.ts'

/** Something that is not the same in two values; a side that has nothing there is undefined. */
export type JsonChange = {
  /** Where: `pages[2].words`; empty for the whole. */ readonly path: string
  readonly before?: unknown
  readonly after?: unknown
}

const MAX_CHANGES = 500

/** What is different between two JSON values, in the order of the first, at most 500 places. */
export function diffJson(before: unknown, after: unknown): readonly JsonChange[] {
  const changes: JsonChange[] = []
  collectChanges(before, after, '', changes)
  return changes
}

function collectChanges(
  before: unknown,
  after: unknown,
  path: string,
  changes: JsonChange[],
): void {
  if (Object.is(before, after) || changes.length >= MAX_CHANGES) return
  if (!isBranch(before) || !isBranch(after) || Array.isArray(before) !== Array.isArray(after)) {
    changes.push(compact({ path, before, after }))
    return
  }
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  const dot = path === '' ? '' : '.'
  for (const name of names) {
    const inner = Array.isArray(before) ? `${path}[${name}]` : `${path}${dot}${name}`
    collectChanges(getOwn(before, name), getOwn(after, name), inner, changes)
  }
}

type JsonBranch = { readonly [name: string]: unknown }

function isBranch(value: unknown): value is JsonBranch {
  return typeof value === 'object' && value !== null
}

function getOwn(branch: JsonBranch, name: string): unknown {
  return Object.hasOwn(branch, name) ? branch[name] : undefined
}
