import type { Explainer } from './found.ts'
import type { Issue } from './schema.ts'
import type { AnySchema } from './subschemas.ts'
import { startsWith } from './value-path.ts'
import type { Path } from './value-path.ts'

/** An issue as a schema library gave it. `isOwn`: the author wrote a rule of their own, and its message is the best there is. */
export type LibraryIssue = { readonly path: Path; readonly message: string; readonly isOwn?: boolean }

/** Puts what a library found into our words: explained from the JSON Schema where that can say it, in the library's words otherwise. */
export function toIssues(explainer: Explainer, schema: AnySchema, value: unknown, unknown: readonly Issue[], library: readonly LibraryIssue[]): Issue[] {
  const explained = explainer.explain(schema, value).filter((each) => !unknown.some((key) => key.path.length === each.path.length && startsWith(each.path, key.path)))
  const told: Issue[] = [...unknown]
  for (const issue of library) {
    const reasons = explained.filter((each) => startsWith(each.path, issue.path))
    if (reasons.length > 0 && !issue.isOwn) told.push(...reasons.map(strip))
    else if (issue.isOwn || !unknown.some((each) => startsWith(each.path, issue.path))) {
      const isMissing = reasons.some((each) => each.kind === 'missing' && each.path.length === issue.path.length)
      told.push({ path: issue.path, kind: isMissing ? 'missing' : 'invalid', message: issue.message })
    }
  }
  return withoutTwins(told)
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
