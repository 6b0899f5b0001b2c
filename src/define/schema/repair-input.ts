import { isObject } from '../../contract/json.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { Issue } from './schema.ts'
import { formatPath } from './value-path.ts'
import type { Path } from './value-path.ts'

/** The input with misspelt keys and values put right; undefined when something would still be wrong with it. */
export function repairInput(input: JsonObject, issues: readonly Issue[]): JsonObject | undefined {
  const repairs = issues.filter((issue) => issue.meant !== undefined)
  if (repairs.length === 0) return undefined
  const filled = renamedFields(repairs)
  const isSolved = (issue: Issue) =>
    issue.meant !== undefined || (issue.kind === 'missing' && filled.has(formatPath(issue.path)))
  if (!issues.every(isSolved)) return undefined
  return repairs.reduce<unknown>(
    (value, issue) => replaceAt(value, issue.path, issue),
    input,
  ) as JsonObject
}

/** The fields that renaming misspelt keys would fill. */
export function renamedFields(issues: readonly Issue[]): ReadonlySet<string> {
  const renamed = issues.filter(
    (issue) => issue.kind === 'unknown_key' && issue.meant !== undefined,
  )
  return new Set(renamed.map((issue) => formatPath([...issue.path.slice(0, -1), issue.meant!])))
}

function replaceAt(value: unknown, path: Path, issue: Issue): unknown {
  const [key, ...rest] = path
  if (key === undefined) return issue.meant
  if (Array.isArray(value))
    return value.map((item: unknown, index) =>
      index === key ? replaceAt(item, rest, issue) : item,
    )
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => {
      if (name !== key) return [name, item]
      return rest.length === 0 && issue.kind === 'unknown_key'
        ? [issue.meant!, item]
        : [name, replaceAt(item, rest, issue)]
    }),
  )
}
