/**
 * Input fields that are paths (`format: path`, `x-toolable-path`): resolved and checked against the directory of the caller.
 */

import { resolve } from 'node:path'
import { isObject } from '../../util/values.ts'
import type { JsonSchema } from '../../util/values.ts'
import { createExplainer } from './explain.ts'
import { createRefs } from './refs.ts'
import { formatValue } from './subschemas.ts'
import { rewriteValue } from './walk.ts'
import type { IssuePath } from './walk.ts'

/**
 * What a path field demands; it stands in JSON Schema as `x-toolable-path` beside `format: 'path'`.
 */
export type PathRules = {
  /** The path must exist. */
  readonly exists?: boolean
  /** What the path must be, if it exists. */
  readonly kind?: 'file' | 'directory'
  /** Hand the tool the absolute path. */
  readonly resolve?: boolean
  readonly direction?: 'in' | 'out' | 'inout'
}

export type PathKind = 'file' | 'directory' | 'other'
export type PathIssue = { readonly path: IssuePath; readonly message: string }

/**
 * Resolves the path fields of a checked value against the caller's directory and reports those that
 * are missing or of the wrong kind.
 */
export function checkPaths(
  schema: JsonSchema,
  value: unknown,
  cwd: string,
  stat: (path: string) => PathKind | undefined,
): { value: unknown; issues: PathIssue[] } {
  const issues: PathIssue[] = []
  const checked = rewriteValue(
    createExplainer(createRefs(schema)),
    schema,
    value,
    (pieces, here, path) => {
      const piece = pieces.find(
        (each) => each['format'] === 'path' || isObject(each['x-toolable-path']),
      )
      if (!piece || typeof here !== 'string') return here
      const rules = (
        isObject(piece['x-toolable-path']) ? piece['x-toolable-path'] : {}
      ) as PathRules
      const absolute = resolve(cwd, here)
      const problem =
        rules.exists === true || rules.kind !== undefined
          ? findPathProblem(rules, stat(absolute), here)
          : undefined
      if (problem !== undefined) issues.push({ path: [...path], message: problem })
      return rules.resolve === true ? absolute : here
    },
  )
  return { value: checked, issues }
}

function findPathProblem(
  rules: PathRules,
  found: PathKind | undefined,
  given: string,
): string | undefined {
  const wanted = rules.kind === undefined ? 'path' : rules.kind
  if (found === undefined)
    return rules.exists === true
      ? `must be an existing ${wanted}, and ${formatValue(given)} does not exist`
      : undefined
  if (rules.kind === undefined || rules.kind === found) return undefined
  return `must be a ${rules.kind}, and ${formatValue(given)} is ${found === 'other' ? 'neither file nor directory' : `a ${found}`}`
}
