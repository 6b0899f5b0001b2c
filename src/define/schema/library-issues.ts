import type { Explainer } from './found.ts'
import type { Issue } from './schema.ts'
import type { AnySchema } from './subschemas.ts'
import { formatPath, startsWith } from './value-path.ts'
import type { Path } from './value-path.ts'

/** An issue as a schema library gave it. `isOwn`: the author wrote a rule of their own, and its message is the best there is. */
export type LibraryIssue = {
  readonly path: Path
  readonly message: string
  readonly isOwn?: boolean
}

// Nobody reads more, and a list of a million wrong rows must not cost a million explanations.
const MOST_ISSUES = 100

/** Puts what a library found into our words: explained from the JSON Schema where that can say it, in the library's words otherwise. A hundred issues at most. */
export function toIssues(
  explainer: Explainer,
  schema: AnySchema,
  value: unknown,
  unknown: readonly Issue[],
  library: readonly LibraryIssue[],
): Issue[] {
  const told: Issue[] = unknown.slice(0, MOST_ISSUES)
  const refused = new Set(told.map((issue) => formatPath(issue.path)))
  const explained = explainer
    .explain(schema, value)
    .filter((each) => !refused.has(formatPath(each.path)))
  for (const issue of library.slice(0, MOST_ISSUES)) {
    const reasons = explained.filter((each) => startsWith(each.path, issue.path))
    if (reasons.length > 0 && !issue.isOwn) told.push(...reasons.map(strip))
    else if (
      issue.isOwn ||
      !told.some((each) => each.kind === 'unknown_key' && startsWith(each.path, issue.path))
    ) {
      const isMissing = reasons.some(
        (each) => each.kind === 'missing' && each.path.length === issue.path.length,
      )
      told.push({
        path: issue.path,
        kind: isMissing ? 'missing' : 'invalid',
        message: issue.message,
      })
    }
  }
  return withoutTwins(told).slice(0, MOST_ISSUES)
}

function strip({ path, message, kind, meant }: Issue): Issue {
  return { path, message, kind, ...(meant !== undefined && { meant }) }
}

function withoutTwins(issues: readonly Issue[]): Issue[] {
  const seen = new Set<string>()
  return issues.filter((issue) => {
    const key = JSON.stringify([issue.path, issue.message])
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}
