/** Something that is not the same in two values; a side that has nothing there is undefined. */
export type Change = {
  /** Where: `pages[2].words`; empty for the whole. */ readonly path: string
  readonly before?: unknown
  readonly after?: unknown
}

const MOST = 500

/** What is different between two JSON values, in the order of the first, at most 500 places. */
export function changesBetween(before: unknown, after: unknown): readonly Change[] {
  const changes: Change[] = []
  compare(before, after, '', changes)
  return changes
}

function compare(before: unknown, after: unknown, path: string, changes: Change[]): void {
  if (Object.is(before, after) || changes.length >= MOST) return
  if (!isBranch(before) || !isBranch(after) || Array.isArray(before) !== Array.isArray(after)) {
    changes.push({
      path,
      ...(before !== undefined && { before }),
      ...(after !== undefined && { after }),
    })
    return
  }
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  for (const name of names)
    compare(
      own(before, name),
      own(after, name),
      Array.isArray(before) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`,
      changes,
    )
}

type Branch = { readonly [name: string]: unknown }

function isBranch(value: unknown): value is Branch {
  return typeof value === 'object' && value !== null
}

function own(branch: Branch, name: string): unknown {
  return Object.hasOwn(branch, name) ? branch[name] : undefined
}
