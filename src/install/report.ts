/**
 * The plan of an install command as its result.
 */

import { toFileError } from '../core/files/shared-file.ts'
import type { Reply } from '../define/results.ts'
import { ok, partial } from '../define/results.ts'
import type { Context } from '../protocol/context.ts'
import { ToolError } from '../protocol/tool-error.ts'

/** What happens, or would happen, at one place. `conflict` and `broken` places are left alone. */
export type InstallRow = {
  readonly action: 'add' | 'update' | 'remove' | 'unchanged' | 'conflict' | 'broken'
  /** The file or the folder. */
  readonly target: string
  readonly details: {
    readonly agents: readonly string[]
    /** Why it is left alone. */ readonly reason?: string | undefined
    /** Whether --force would change it. */ readonly forcible?: boolean | undefined
    readonly [fact: string]: unknown
  }
}

/** How a command runs: a dry run only plans. */
export type InstallRun = Pick<Context, 'dryRun' | 'signal'>

/** What is wrong with a file that cannot be used. Throws what is no problem of the file. */
export function getFileProblem(error: unknown, file: string): string {
  const problem = toFileError(error, file)
  if (!ToolError.is(problem)) throw problem
  return problem.message
}

/** The result of a command: the whole plan, and the agents for which it holds now. */
export type InstallReport = {
  readonly plan: readonly InstallRow[]
  readonly done: readonly string[]
}

/** What was done at several places, and what went wrong there. */
export type InstallResult = {
  readonly rows: readonly InstallRow[]
  readonly errors: readonly ToolError[]
}

/**
 * Does one place after the other. A place that cannot be used becomes a row and an error, and does
 * not stop the others.
 */
export async function applyToAll<Place>(
  places: readonly Place[],
  describe: (place: Place) => Omit<InstallRow, 'action'>,
  work: (place: Place) => Promise<readonly InstallRow[]>,
  signal: AbortSignal,
): Promise<InstallResult> {
  const rows: InstallRow[] = []
  const errors: ToolError[] = []
  for (const place of places) {
    signal.throwIfAborted()
    try {
      rows.push(...(await work(place)))
    } catch (error) {
      if (!ToolError.is(error) || signal.aborted) throw error
      errors.push(error)
      const { target, details } = describe(place)
      rows.push({ action: 'broken', target, details: { ...details, reason: error.message } })
    }
  }
  return { rows, errors }
}

/** Both, in order. */
export function mergeResults(...parts: readonly InstallResult[]): InstallResult {
  return { rows: parts.flatMap(({ rows }) => rows), errors: parts.flatMap(({ errors }) => errors) }
}

/**
 * The plan as the outcome of the command. A dry run only plans; a conflict fails with CONFLICT;
 * what could not be used makes it partial.
 */
export function reportInstall(
  ctx: Pick<Context, 'dryRun' | 'plan'>,
  { rows, errors }: InstallResult,
  input: object,
): InstallReport | Reply<InstallReport> {
  if (ctx.dryRun) for (const { action, target, details } of rows) ctx.plan(action, target, details)
  const conflicts = rows.filter(({ action }) => action === 'conflict')
  if (!ctx.dryRun && conflicts[0]) throw conflictError(rows, conflicts, input)
  const done = rows
    .filter(({ action }) => action !== 'broken' && action !== 'conflict')
    .flatMap(({ details }) => details.agents)
  const result = { plan: rows, done }
  return errors.length > 0 && !ctx.dryRun ? partial(result, errors, 'done') : result
}

/**
 * The same for taking out: of places that nobody asked for by name, nothing is said unless
 * something was there.
 */
export function reportRemoval(
  ctx: Pick<Context, 'dryRun' | 'plan'>,
  { rows, errors }: InstallResult,
  input: { readonly agent?: readonly string[] },
  nothing: string,
): InstallReport | Reply<InstallReport | Reply<InstallReport>> {
  const told = rows.filter(({ action }) => input.agent !== undefined || action !== 'unchanged')
  const reported = reportInstall(ctx, { rows: told, errors }, input)
  return told.length === 0 ? ok(reported, { message: nothing }) : reported
}

function conflictError(
  rows: readonly InstallRow[],
  [first, ...more]: readonly InstallRow[],
  input: object,
): ToolError {
  const others = more.length > 0 ? `, and so are ${more.length} more` : ''
  return new ToolError(
    'CONFLICT',
    `${first!.target} was left alone, because ${first!.details.reason}${others}`,
    {
      details: {
        plan: rows.map(({ action, target, details: { agents, reason } }) => ({
          path: target,
          agents,
          action,
          message: reason === undefined || action === 'add' ? action : `${action}: ${reason}`,
        })),
      },
      suggestion: first!.details.forcible
        ? {
            fix: 'Look at what is there; to go on all the same, say --force',
            input: { ...input, force: true },
          }
        : { fix: `Take it out of ${first!.target} by hand` },
    },
  )
}
