import { isObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { FailOptions } from '../../contract/tool-error.ts'
import { renamedFields, repairInput } from './repair-input.ts'
import type { Issue } from './schema.ts'
import { formatPath } from './value-path.ts'
import { joinWith } from './words.ts'

const MOST_TOLD = 5

/** `what` names the whole value in messages (default `the input`); `input` is the value as it was given, so that a repaired one can be suggested. */
export type IssueContext = { readonly what?: string; readonly input?: unknown }

/** One error for all issues: MISSING_PARAM when everything that is wrong is missing, INVALID_INPUT otherwise. */
export function issuesToError(issues: readonly Issue[], context: IssueContext = {}): ToolError {
  const first = issues[0]
  const code =
    issues.length > 0 && issues.every((issue) => issue.kind === 'missing')
      ? 'MISSING_PARAM'
      : 'INVALID_INPUT'
  const field = first && formatPath(first.path)
  const options: FailOptions = {
    ...(field !== undefined && field !== '' && { field }),
    details: {
      issues: issues.map((issue) => ({ path: formatPath(issue.path), message: issue.message })),
    },
    ...(first && { suggestion: suggest(issues, context) }),
  }
  return new ToolError(code, describeIssues(issues, context.what), options)
}

/** The issues as one sentence; five at most are told, the rest is counted. */
export function describeIssues(issues: readonly Issue[], what = 'the input'): string {
  const told = issues.slice(0, MOST_TOLD).map((issue) => describeIssue(issue, what))
  if (issues.length > MOST_TOLD) told.push(`and ${issues.length - MOST_TOLD} more`)
  if (told.length < 2) return told[0] ?? `${what} is not valid`
  return told.map(bracketQuestion).join('; ')
}

// A question mark before a semicolon reads as a mistake.
function bracketQuestion(message: string): string {
  return message.replace(/; (did you mean [^;]*\?)$/, ' ($1)')
}

function describeIssue(issue: Issue, what: string): string {
  // Our own messages go on from the name of the field; those of authors may be whole sentences.
  if (issue.kind !== 'unknown_key')
    return `${formatPath(issue.path) || what}${/^(?:must|is|has|fits|cannot) /.test(issue.message) ? ' ' : ': '}${issue.message}`
  const parent = formatPath(issue.path.slice(0, -1))
  return parent === ''
    ? issue.message
    : `${issue.message.replace(/^(unknown key '(?:.*?)')(?=;|$)/s, `$1 in ${parent.replaceAll('$', '$$$$')}`)}`
}

function suggest(
  issues: readonly Issue[],
  context: IssueContext,
): NonNullable<FailOptions['suggestion']> {
  const fix = describeFix(issues, context.what ?? 'the input')
  const repaired = isObject(context.input) ? repairInput(context.input, issues) : undefined
  return {
    action: 'retry_with_modified_input',
    fix,
    ...(repaired && { input: repaired }),
    applicability: 'maybe_incorrect',
  }
}

function describeFix(issues: readonly Issue[], what: string): string {
  const told = issues.slice(0, MOST_TOLD)
  const renamed = renamedFields(told)
  const missing = told
    .filter((issue) => issue.kind === 'missing')
    .map((issue) => formatPath(issue.path))
    .filter((field) => !renamed.has(field))
  const others = told.filter((issue) => issue.kind !== 'missing').map((issue) => fixOf(issue, what))
  const fixes = missing.length > 0 ? [...others, `add ${joinWith('and', missing)}`] : others
  const text = fixes.join('; ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function fixOf(issue: Issue, what: string): string {
  const field = formatPath(issue.path) || what
  if (issue.kind === 'unknown_key')
    return issue.meant === undefined
      ? `remove ${field}`
      : `rename ${field} to ${formatPath([...issue.path.slice(0, -1), issue.meant])}`
  return issue.meant === undefined
    ? `correct ${field}: ${issue.message}`
    : `set ${field} to '${issue.meant}'`
}
