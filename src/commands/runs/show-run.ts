/**
 * `toolable runs show`, of a run and of a workflow that a program executes without a folder for it.
 */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ResultRenderer } from '../../cli/formats/envelope.ts'
import type { TextPainter } from '../../cli/formats/terminal-text.ts'
import { cleanLine, createTextPainter } from '../../cli/formats/terminal-text.ts'
import { toProtocolCode } from '../../protocol/errors.ts'
import { isFinished } from '../../protocol/run-state.ts'
import { openRun } from '../../runner/find-run.ts'
import { recoverRuns } from '../../runner/recover.ts'
import type { RunRequest } from '../../runner/request.ts'
import type { RunPaths } from '../../runner/run-paths.ts'
import { findRunsFolder, isRunId } from '../../runner/run-paths.ts'
import { readRunSummary } from '../../runner/summary.ts'
import { compact } from '../../util/values.ts'
import type { RunSummary } from '../../views/model/run-summary.ts'
import { toAnswerCommand } from '../../views/terminal/run-words.ts'
import { findInlineExecution } from '../../workflow/embedded/find-executions.ts'
import { getInlinePaths } from '../../workflow/embedded/segment-files.ts'
import type { ExecutionRecords } from '../../workflow/embedded/segment-reader.ts'
import type { StepError } from '../../workflow/engine.ts'
import { findResumeCommand } from '../../workflow/lookup.ts'
import { toWorkflowToolName } from '../../workflow/request.ts'
import type { ShownStep, ShownSteps } from '../../workflow/run-record.ts'
import { readWorkflowRun } from '../../workflow/run-record.ts'
import type { CommandContext } from '../command.ts'
import { renderPlanSteps } from '../plan.ts'
import { getDurationSeconds, joinLines, paintState } from './event-lines.ts'

/** Sums up one run. */
export async function showRun(
  { run, config }: { readonly run: string; readonly config?: string },
  { cwd }: CommandContext,
): Promise<ShownRun> {
  const root = findRunsFolder(cwd, config)
  await recoverRuns(root)
  const inline = existsSync(join(root, run)) ? undefined : await showInlineExecution(root, run)
  if (inline) return inline
  const { paths, request } = openRun(root, run)
  const summary = await readRunSummary(paths, request)
  const { args, caller, parent, command } = request
  return {
    ...summary,
    ...(command === 'workflow' ? await readWorkflowSteps(paths, summary) : undefined),
    args,
    folder: paths.folder,
    ...compact({ caller, parent, go_on: await findResumeCommand(paths, request, summary) }),
  }
}

// A workflow that no process performs may still wait for an answer.
async function readWorkflowSteps(
  paths: RunPaths,
  { questions, state }: RunSummary,
): Promise<Pick<ShownRun, 'steps' | 'more_steps' | 'questions'>> {
  const { open, ...steps } = await readWorkflowRun(paths)
  return {
    ...steps,
    questions: isFinished(state) ? open.filter(({ answered }) => answered !== true) : questions,
  }
}

/** One run for a person, a fact a line, and the command that resumes it where there is one. */
export const renderShownRun: ResultRenderer = (result, { color }) => {
  const paint = createTextPainter(color)
  const run = result as ShownRun
  const known = listFacts(run).filter(
    (fact): fact is [string, string] => fact[1] !== undefined && fact[1] !== '',
  )
  const { plan, steps = [], more_steps, questions, go_on } = run
  const lines = [
    `${paint('bold', run.run_id)} ${cleanLine([run.tool, ...run.args].join(' '))}`,
    `  state     ${paintState(run.state, paint)}${run.rc === undefined ? '' : ` (exit ${run.rc})`}`,
    ...known.map(([name, value]) => `  ${name.padEnd(9)} ${cleanLine(value)}`),
  ]
  if (plan) {
    lines.push(`  plan      ${cleanLine(plan.objective)}`)
    lines.push(...renderPlanSteps(plan, paint).map((line) => `          ${line}`))
  }
  lines.push(...steps.map((step) => `  step      ${renderStepLine(step, paint)}`))
  if (more_steps !== undefined)
    lines.push(paint('dim', `  step      and ${more_steps} more: toolable runs logs ${run.run_id}`))
  for (const question of questions) {
    const answer = toAnswerCommand(run.run_id, question, questions.length > 1)
    lines.push(`  asks      ${cleanLine(question.prompt ?? '')}`)
    lines.push(paint('dim', `  answer    ${cleanLine(answer)}`))
  }
  if (go_on !== undefined) lines.push(paint('dim', `  go on     ${go_on}`))
  return joinLines(lines)
}

type Fact = readonly [name: string, value: string | undefined]

function listFacts(run: ShownRun): readonly Fact[] {
  const { progress, last, error, result, artifacts, parent } = run
  const duration = run.duration_s === undefined ? '' : ` (${run.duration_s} s)`
  const step = error?.step && `in step ${error.step}${error.message === undefined ? '' : ':'}`
  const hint = error?.hint && `(${error.hint})`
  const percent = progress?.percent === undefined ? undefined : `${progress.percent}%`
  const diagnostics = run.diagnostics === undefined ? undefined : `${run.diagnostics} diagnostics`
  const warnings = run.warnings === undefined ? undefined : `${run.warnings} warnings`
  return [
    ['attempt', run.attempt > 1 ? String(run.attempt) : undefined],
    ['level', run.level],
    ['caller', run.caller],
    ['created', run.created],
    ['started', run.started],
    ['ended', run.ended && `${run.ended}${duration}`],
    ['progress', progress && joinKnown(' ', percent, progress.step, progress.message)],
    ['last', !isFinished(run.state) && last ? `${last.type} ${last.text}` : undefined],
    ['error', error && joinKnown(' ', error.code, step, error.message, hint)],
    ['result', result === undefined ? undefined : JSON.stringify(result)],
    ['artifacts', artifacts?.map((artifact) => JSON.stringify(artifact)).join(', ')],
    ['parent', parent && `${parent.run_id}, step ${parent.step}`],
    ['events', joinKnown(', ', String(run.events), diagnostics, warnings)],
    ['folder', run.folder],
  ]
}

function joinKnown(separator: string, ...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join(separator)
}

const STEP_COLORS: { readonly [state: string]: 'red' | 'green' } = { failed: 'red', ok: 'green' }

function renderStepLine(
  { step, state, kind, tries = 1, duration_s, run_id, error }: ShownStep,
  paint: TextPainter,
): string {
  const attempts = tries > 1 ? `try ${tries}` : undefined
  const duration = duration_s === undefined ? undefined : `${duration_s} s`
  const facts = joinKnown(', ', kind, attempts, duration, run_id, error)
  const indent = '  '.repeat(step.split('/').length - 1)
  const space = ' '.repeat(Math.max(1, 12 - state.length))
  const text = cleanLine(`${indent}${step}${facts === '' ? '' : ` (${facts})`}`)
  return `${paint(STEP_COLORS[state] ?? 'yellow', state)}${space}${text}`
}

/**
 * An execution without a folder, as a run is shown; undefined where none has that id.
 */
export async function showInlineExecution(root: string, id: string): Promise<ShownRun | undefined> {
  const paths = getInlinePaths(root)
  const found = isRunId(id) ? await findInlineExecution(paths, id) : undefined
  if (!found) return undefined
  const { name, state, created, ended, result, error, questions = [] } = found.execution
  const { records } = found.records
  return compact({
    run_id: id,
    tool: toWorkflowToolName(name),
    state,
    attempt: 1,
    created,
    started: created,
    ended,
    duration_s: getDurationSeconds(found.execution),
    questions,
    result,
    error: error && toShownError(error),
    events: records.length,
    steps: records.flatMap(toShownStep),
    args: [],
    folder: paths.folder,
  })
}

function toShownError({
  code,
  retryable,
  message,
  hint,
  details,
}: StepError): NonNullable<RunSummary['error']> {
  const step = details?.['step']
  return compact({
    code: toProtocolCode(code, retryable),
    message,
    hint,
    step: typeof step === 'string' ? step : undefined,
  })
}

function toShownStep(record: ExecutionRecords['records'][number]): readonly ShownStep[] {
  if (record.t !== 'done') return []
  const state = record.e ? 'failed' : 'ok'
  return [compact({ step: record.k, state, run_id: record.r, error: record.e?.message })]
}

/** A run with where it is and what was asked of it. */
type ShownRun = RunSummary & {
  readonly args: readonly string[]
  readonly folder: string
  /** The command that resumes it, where it is over and can be resumed. */
  readonly go_on?: string
  /** Who requested it. */
  readonly caller?: string
  /** The run that this one is a step of. */
  readonly parent?: RunRequest['parent']
} & Partial<ShownSteps>
