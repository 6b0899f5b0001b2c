/**
 * Turns issues into one error with a suggested repair. Loaded only when a value was refused.
 */

import { ToolError } from '../../protocol/tool-error.ts'
import type { FailOptions } from '../../protocol/tool-error.ts'
import { compact, isObject } from '../../util/values.ts'
import type { JsonObject } from '../../util/values.ts'
import type { CompiledTool } from '../tool-types.ts'
import type { SchemaIssue } from './source.ts'
import { joinWords } from './subschemas.ts'
import { formatPath } from './walk.ts'
import type { IssuePath } from './walk.ts'

const MAX_DESCRIBED_ISSUES = 5

/**
 * `what` names the whole value in messages (default `the input`); `input` is the value as it was
 * given, so that a repaired one can be suggested.
 */
export type IssueContext = { readonly what?: string; readonly input?: unknown }

/**
 * One error for all issues: MISSING_PARAM when everything that is wrong is missing, INVALID_INPUT
 * otherwise.
 */
export function issuesToError(
  issues: readonly SchemaIssue[],
  context: IssueContext = {},
): ToolError {
  const first = issues[0]
  const code =
    issues.length > 0 && issues.every((issue) => issue.kind === 'missing')
      ? 'MISSING_PARAM'
      : 'INVALID_INPUT'
  const field = first && formatPath(first.path)
  const options: FailOptions = compact({
    field: field !== undefined && field !== '' ? field : undefined,
    details: {
      issues: issues.map((issue) => ({ path: formatPath(issue.path), message: issue.message })),
    },
    suggestion: first ? suggestRepair(issues, context) : undefined,
  })
  return new ToolError(code, describeIssues(issues, context.what), options)
}

/** The issues as one sentence; five at most are told, the rest is counted. */
export function describeIssues(issues: readonly SchemaIssue[], what = 'the input'): string {
  const told = issues.slice(0, MAX_DESCRIBED_ISSUES).map((issue) => describeIssue(issue, what))
  if (issues.length > MAX_DESCRIBED_ISSUES)
    told.push(`and ${issues.length - MAX_DESCRIBED_ISSUES} more`)
  if (told.length < 2) return told[0] ?? `${what} is not valid`
  return told.map(bracketQuestion).join('; ')
}

// A question mark before a semicolon reads as a mistake.
function bracketQuestion(message: string): string {
  return message.replace(/; (did you mean [^;]*\?)$/, ' ($1)')
}

function describeIssue(issue: SchemaIssue, what: string): string {
  // Our own messages go on from the name of the field; those of authors may be whole sentences.
  if (issue.kind !== 'unknown_key')
    return `${formatPath(issue.path) || what}${/^(?:must|is|has|fits|cannot) /.test(issue.message) ? ' ' : ': '}${issue.message}`
  const parent = formatPath(issue.path.slice(0, -1))
  return parent === ''
    ? issue.message
    : `${issue.message.replace(/^(unknown key '(?:.*?)')(?=;|$)/s, `$1 in ${parent.replaceAll('$', '$$$$')}`)}`
}

function suggestRepair(
  issues: readonly SchemaIssue[],
  context: IssueContext,
): NonNullable<FailOptions['suggestion']> {
  const fix = describeFix(issues, context.what ?? 'the input')
  const repaired = isObject(context.input) ? repairInput(context.input, issues) : undefined
  return compact({
    action: 'retry_with_modified_input',
    fix,
    input: repaired,
    applicability: 'maybe_incorrect',
  })
}

function describeFix(issues: readonly SchemaIssue[], what: string): string {
  const told = issues.slice(0, MAX_DESCRIBED_ISSUES)
  const renamed = listRenamedFields(told)
  const missing = told
    .filter((issue) => issue.kind === 'missing')
    .map((issue) => formatPath(issue.path))
    .filter((field) => !renamed.has(field))
  const others = told
    .filter((issue) => issue.kind !== 'missing')
    .map((issue) => describeIssueFix(issue, what))
  const fixes = missing.length > 0 ? [...others, `add ${joinWords('and', missing)}`] : others
  const text = fixes.join('; ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function describeIssueFix(issue: SchemaIssue, what: string): string {
  const field = formatPath(issue.path) || what
  if (issue.kind === 'unknown_key')
    return issue.meant === undefined
      ? `remove ${field}`
      : `rename ${field} to ${formatPath([...issue.path.slice(0, -1), issue.meant])}`
  return issue.meant === undefined
    ? `correct ${field}: ${issue.message}`
    : `set ${field} to '${issue.meant}'`
}

/**
 * The input with misspelt keys and values put right; undefined when something would still be wrong
 * with it.
 */
function repairInput(input: JsonObject, issues: readonly SchemaIssue[]): JsonObject | undefined {
  const repairs = issues.filter((issue) => issue.meant !== undefined)
  if (repairs.length === 0) return undefined
  const filled = listRenamedFields(repairs)
  const isSolved = (issue: SchemaIssue) =>
    issue.meant !== undefined || (issue.kind === 'missing' && filled.has(formatPath(issue.path)))
  if (!issues.every(isSolved)) return undefined
  return repairs.reduce<unknown>(
    (value, issue) => replaceAt(value, issue.path, issue),
    input,
  ) as JsonObject
}

/** The fields that renaming misspelt keys would fill. */
function listRenamedFields(issues: readonly SchemaIssue[]): ReadonlySet<string> {
  const renamed = issues.filter(
    (issue) => issue.kind === 'unknown_key' && issue.meant !== undefined,
  )
  return new Set(renamed.map((issue) => formatPath([...issue.path.slice(0, -1), issue.meant!])))
}

function replaceAt(value: unknown, path: IssuePath, issue: SchemaIssue): unknown {
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

/**
 * Refuses examples whose input or output the compiled schemas of their tool do not take: also those
 * that could not be judged when the tool was defined. Throws CONFIG.
 */
export async function checkExamples({ manifest, input, output }: CompiledTool): Promise<void> {
  for (const [index, example] of manifest.examples.entries()) {
    for (const [part, schema] of [
      ['input', input],
      ['output', output],
    ] as const) {
      if (example[part] === undefined || !schema) continue
      const checked = await schema.check(example[part])
      if (checked.ok) continue
      throw new ToolError(
        'CONFIG',
        `example ${index + 1} of tool '${manifest.name}' does not fit its ${part}: ${describeIssues(checked.issues, `the ${part}`)}`,
        { suggestion: 'Correct the example, or the schema' },
      )
    }
  }
}
