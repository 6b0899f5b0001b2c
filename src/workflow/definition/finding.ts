import type { KeyPath, LocatedDocument } from '../../contract/documents/document.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { formatPath } from '../../define/schema/value-path.ts'

/** Where a definition stands; nowhere, for one that was made in this process. */
export type Source = {
  readonly file?: string
  readonly locate?: LocatedDocument['locate']
  /** The keys that lead to it, for one that stands in another. */ readonly within?: KeyPath
}

/** Something that is wrong with a definition, and the keys that lead to it. */
export type Finding = {
  readonly source: Source
  readonly path: KeyPath
  readonly message: string
  readonly fix?: string
}

/** A finding as everybody sees it. */
export type WorkflowProblem = {
  readonly file?: string
  readonly line?: number
  readonly column?: number
  readonly path: string
  readonly message: string
  readonly fix?: string
}

/** More than these are not told: most of them follow from the first ones. */
export const MOST_PROBLEMS = 20

/** The findings with their lines, in the order of the file. */
export async function locateFindings(
  findings: readonly Finding[],
): Promise<readonly WorkflowProblem[]> {
  const located = await Promise.all(
    findings
      .slice(0, MOST_PROBLEMS)
      .map(async (finding) => ({ ...problemOf(finding), ...(await placeOf(finding)) })),
  )
  return located
    .map((problem, index) => ({ problem, index }))
    .sort((left, right) => compareFiles(left.problem, right.problem) || left.index - right.index)
    .map(({ problem }) => problem)
}

/** The findings without lines. */
export function problemOf({ source, path, message, fix }: Finding): WorkflowProblem {
  return {
    ...(source.file !== undefined && { file: source.file }),
    path: formatPath([...(source.within ?? []), ...path]),
    message,
    ...(fix !== undefined && { fix }),
  }
}

/** `file:line: path: message`, as far as it is known. */
export function tellProblem({ file, line, path, message }: WorkflowProblem): string {
  return `${file === undefined ? '' : `${file}${line === undefined ? '' : `:${line}`}: `}${path === '' ? '' : `${path}: `}${message}`
}

/** One CONFIG error for all that is wrong with a definition; `found` counts those that are not told too. */
export function problemsError(
  problems: readonly WorkflowProblem[],
  found: number = problems.length,
): ToolError {
  const more = found > problems.length ? [`and ${found - problems.length} more`] : []
  return new ToolError('CONFIG', [...problems.map(tellProblem), ...more].join('\n'), {
    details: { problems },
    suggestion:
      found > 1
        ? 'Correct these lines; docs/workflow-definition.md has every key'
        : (problems[0]?.fix ?? 'See docs/workflow-definition.md'),
  })
}

// What is missing stands nowhere: the nearest thing around it does.
async function placeOf({
  source,
  path: own,
}: Finding): Promise<{ readonly line: number; readonly column: number } | undefined> {
  if (source.locate === undefined) return undefined
  const path = [...(source.within ?? []), ...own]
  for (let length = path.length; length > 0; length -= 1) {
    const place = await source.locate(path.slice(0, length))
    if (place) return place
  }
  return { line: 1, column: 1 }
}

function compareFiles(left: WorkflowProblem, right: WorkflowProblem): number {
  return left.file === right.file ? (left.line ?? 0) - (right.line ?? 0) : 0
}
