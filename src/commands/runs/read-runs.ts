/**
 * `toolable runs list` and `toolable runs show`.
 */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ResultRenderer } from '../../cli/formats/envelope.ts'
import type { TextPainter } from '../../cli/formats/terminal-text.ts'
import { cleanLine, createTextPainter } from '../../cli/formats/terminal-text.ts'
import type { TableOptions } from '../../cli/formats/text.ts'
import { renderTable } from '../../cli/formats/text.ts'
import type { RunState } from '../../protocol/run-state.ts'
import { isFinished } from '../../protocol/run-state.ts'
import type { ListedRun } from '../../runner/find-run.ts'
import { listRuns, openRun, readRunRequest } from '../../runner/find-run.ts'
import { recoverRuns } from '../../runner/recover.ts'
import type { RunPaths } from '../../runner/run-paths.ts'
import { findRunsFolder } from '../../runner/run-paths.ts'
import { readBriefSummary, readRunSummary } from '../../runner/summary.ts'
import { shorten } from '../../util/text.ts'
import { compact } from '../../util/values.ts'
import { formatAgo, formatDuration } from '../../views/model/format.ts'
import type { RunSummary } from '../../views/model/run-summary.ts'
import { toAnswerCommand } from '../../views/terminal/run-words.ts'
import { findResumeCommand } from '../../workflow/lookup.ts'
import type { ShownStep } from '../../workflow/run-record.ts'
import { renderPlanSteps } from '../plan.ts'
import type { ShownRun } from '../workflow/inline-executions.ts'
import { paintState, STATE_COLORS } from './event-lines.ts'

type ListRunsInput = {
  readonly state?: readonly RunState[]
  readonly tool?: string
  readonly limit: number
  readonly config?: string
}

/** A run in the list. */
export type ListedRunRow = Pick<
  RunSummary,
  'run_id' | 'tool' | 'state' | 'attempt' | 'created' | 'duration_s' | 'rc'
> & {
  readonly caller?: string
  readonly code?: string
  /** What went wrong. */ readonly message?: string
  readonly last?: string
  readonly questions?: number
  /** Artifacts of the last attempt. */ readonly artifacts?: number
}

export type RunListing = {
  readonly runs: readonly ListedRunRow[]
  /** Runs in the folder, shown or not. */ readonly total: number
  /** Older runs were not looked at, because there are enough. */ readonly more?: true
  readonly folder: string
}

const READ_BATCH_SIZE = 32
const MAX_MESSAGE_CHARS = 300

/** Lists runs, newest first; what is not shown is not read. */
export async function listRunRows(
  { state, tool, limit, config }: ListRunsInput,
  { cwd }: { readonly cwd: string },
): Promise<RunListing> {
  const folder = findRunsFolder(cwd, config)
  await recoverRuns(folder)
  const all = listRuns(folder)
  const runs: ListedRunRow[] = []
  let at = 0
  for (; at < all.length && runs.length < limit; at += READ_BATCH_SIZE) {
    const rows = await Promise.all(
      all.slice(at, at + READ_BATCH_SIZE).map((run) => readRunRow(run, tool)),
    )
    runs.push(
      ...rows.flatMap((row) =>
        row && (state === undefined || state.includes(row.state)) ? [row] : [],
      ),
    )
  }
  return compact({
    runs: runs.slice(0, limit),
    total: all.length,
    more: runs.length > limit || at < all.length ? (true as const) : undefined,
    folder,
  })
}

async function readRunRow(
  { id, paths, created }: ListedRun,
  tool: string | undefined,
): Promise<ListedRunRow | undefined> {
  const request = readRequestOrUnknown(id, paths, created)
  if (tool !== undefined && request.tool !== tool && !request.tool.endsWith(`.${tool}`))
    return undefined
  const { questions, error, last, artifacts, duration_s, rc, state, attempt } =
    await readBriefSummary(paths, request)
  return compact({
    run_id: id,
    tool: request.tool,
    state,
    attempt,
    created: request.created,
    caller: request.caller,
    duration_s,
    rc,
    code: error ? error.code : undefined,
    message: error?.message !== undefined ? shorten(error.message, MAX_MESSAGE_CHARS) : undefined,
    artifacts: artifacts ? artifacts.length : undefined,
    questions: questions.length > 0 ? questions.length : undefined,
    last: last && last.text !== '' ? `${last.type}: ${last.text}` : undefined,
  })
}

// One damaged run.json must not hide the other runs.
function readRequestOrUnknown(
  id: string,
  paths: ListedRun['paths'],
  created: number,
): {
  readonly run_id: string
  readonly tool: string
  readonly created: string
  readonly caller?: string
} {
  try {
    return readRunRequest(paths)
  } catch {
    return { run_id: id, tool: '?', created: new Date(created).toISOString() }
  }
}

/** The list for a person: a table, then how much is not shown. */
export const renderRunList: ResultRenderer = (result, { columns, color }) => {
  const paint = createTextPainter(color)
  const { runs, total, more, folder } = result as RunListing
  if (total === 0) return `no runs in ${folder}\n`
  const now = Date.now()
  return [
    ...(runs.length === 0
      ? [`none of the ${total} runs is like that`]
      : renderTable(
          runs.map((run) => toTableRow(run, now)),
          { columns, paint },
          RUN_COLUMNS,
        )),
    ...(more
      ? ['', paint('dim', `older runs are not shown: toolable runs list --limit ${total}`)]
      : []),
  ]
    .map((line) => `${line}\n`)
    .join('')
}

/** How tables of runs are laid out: ids and states are never cut. */
export const RUN_COLUMNS: TableOptions = {
  whole: ['run', 'state', 'started', 'duration'],
  right: ['duration'],
  spare: ['questions', 'artifacts', 'caller', 'attempts', 'last', 'duration', 'started'],
  style: (key, row) =>
    key === 'state'
      ? STATE_COLORS[row['state'] as ListedRunRow['state']]
      : key === 'started'
        ? 'dim'
        : undefined,
}

/** The columns of a run that every list has. */
export function toRunCells(
  {
    run_id,
    state,
    created,
    duration_s,
  }: Pick<ListedRunRow, 'run_id' | 'state' | 'created' | 'duration_s'>,
  now: number,
): {
  readonly first: { readonly [column: string]: unknown }
  readonly times: { readonly [column: string]: unknown }
} {
  return {
    first: { run: run_id, state },
    times: {
      started: formatAgo(Date.parse(created), now),
      duration: duration_s === undefined ? '' : formatDuration(duration_s),
    },
  }
}

// The same columns as in the dashboard, the id first.
function toTableRow(run: ListedRunRow, now: number): { readonly [column: string]: unknown } {
  const { first, times } = toRunCells(run, now)
  return {
    ...first,
    tool: run.tool,
    caller: run.caller,
    ...times,
    attempts: run.attempt > 1 ? run.attempt : undefined,
    artifacts: run.artifacts,
    last: getLastText(run),
  }
}

function getLastText({ state, code, message, last }: ListedRunRow): string {
  return isFinished(state)
    ? [code, message].filter((part) => part !== undefined).join(' ')
    : (last ?? '')
}

/** Sums up one run. */
export async function showRun(
  { run, config }: { readonly run: string; readonly config?: string },
  { cwd }: { readonly cwd: string },
): Promise<ShownRun> {
  const root = findRunsFolder(cwd, config)
  await recoverRuns(root)
  const light = existsSync(join(root, run))
    ? undefined
    : await (await import('../workflow/inline-executions.ts')).showInlineExecution(root, run)
  if (light) return light
  const { paths, request } = openRun(root, run)
  const summary = await readRunSummary(paths, request)
  const { parent, caller } = request
  const goOn = await findResumeCommand(paths, request, summary)
  return {
    ...summary,
    ...(request.command === 'workflow' && (await readWorkflowSteps(paths, summary))),
    args: request.args,
    folder: paths.folder,
    ...compact({ caller, parent, go_on: goOn }),
  }
}

// What nobody performs at the moment may wait for an answer all the same.
async function readWorkflowSteps(
  paths: RunPaths,
  { questions, state }: RunSummary,
): Promise<Pick<ShownRun, 'steps' | 'more_steps' | 'questions'>> {
  const { readWorkflowRun } = await import('../../workflow/run-record.ts')
  const { open, ...steps } = await readWorkflowRun(paths)
  return {
    ...steps,
    questions: isFinished(state) ? open.filter(({ answered }) => answered !== true) : questions,
  }
}

/** One run for a person, a fact a line, and the command that goes on where there is one. */
export const renderShownRun: ResultRenderer = (result, { color }) => {
  const paint = createTextPainter(color)
  const run = result as ShownRun
  const facts: readonly (readonly [name: string, value: string | undefined])[] = [
    ['state', `${paintState(run.state, paint)}${run.rc === undefined ? '' : ` (exit ${run.rc})`}`],
    ['attempt', run.attempt > 1 ? String(run.attempt) : undefined],
    ['level', run.level],
    ['caller', run.caller],
    ['created', run.created],
    ['started', run.started],
    [
      'ended',
      run.ended && `${run.ended}${run.duration_s === undefined ? '' : ` (${run.duration_s} s)`}`,
    ],
    [
      'progress',
      run.progress &&
        [
          run.progress.percent === undefined ? undefined : `${run.progress.percent}%`,
          run.progress.step,
          run.progress.message,
        ]
          .filter((part) => part !== undefined)
          .join(' '),
    ],
    ['last', isFinished(run.state) ? undefined : run.last && `${run.last.type} ${run.last.text}`],
    [
      'error',
      run.error &&
        [
          run.error.code,
          run.error.step &&
            `in step ${run.error.step}${run.error.message === undefined ? '' : ':'}`,
          run.error.message,
          run.error.hint && `(${run.error.hint})`,
        ]
          .filter((part) => part !== undefined)
          .join(' '),
    ],
    ['result', run.result === undefined ? undefined : JSON.stringify(run.result)],
    [
      'artifacts',
      run.artifacts && run.artifacts.map((artifact) => JSON.stringify(artifact)).join(', '),
    ],
    ['parent', run.parent && `${run.parent.run_id}, step ${run.parent.step}`],
    [
      'events',
      `${run.events}${run.diagnostics === undefined ? '' : `, ${run.diagnostics} diagnostics`}${run.warnings === undefined ? '' : `, ${run.warnings} warnings`}`,
    ],
    ['folder', run.folder],
  ]
  const known = facts.filter(
    (fact): fact is [string, string] => fact[1] !== undefined && fact[1] !== '',
  )
  return [
    `${paint('bold', run.run_id)} ${cleanLine([run.tool, ...run.args].join(' '))}`,
    ...known.map(
      ([name, value]) => `  ${name.padEnd(9)} ${name === 'state' ? value : cleanLine(value)}`,
    ),
    ...(run.plan
      ? [
          `  plan      ${cleanLine(run.plan.objective)}`,
          ...renderPlanSteps(run.plan, paint).map((line) => `          ${line}`),
        ]
      : []),
    ...(run.steps ?? []).map((step) => `  step      ${renderStepLine(step, paint)}`),
    ...(run.more_steps === undefined
      ? []
      : [paint('dim', `  step      and ${run.more_steps} more: toolable runs logs ${run.run_id}`)]),
    ...run.questions.flatMap((question) => [
      `  asks      ${cleanLine(question.prompt ?? '')}`,
      paint(
        'dim',
        `  answer    ${cleanLine(toAnswerCommand(run.run_id, question, run.questions.length > 1))}`,
      ),
    ]),
    ...(run.go_on === undefined ? [] : [paint('dim', `  go on     ${run.go_on}`)]),
  ]
    .map((line) => `${line}\n`)
    .join('')
}

function renderStepLine(
  { step, state, kind, tries = 1, duration_s, run_id, error }: ShownStep,
  paint: TextPainter,
): string {
  const facts = [
    kind,
    tries > 1 && `try ${tries}`,
    duration_s !== undefined && `${duration_s} s`,
    run_id,
    error,
  ].filter((fact) => fact !== undefined && fact !== false)
  return `${state === 'failed' ? paint('red', state) : state === 'ok' ? paint('green', state) : paint('yellow', state)}${' '.repeat(Math.max(1, 12 - state.length))}${cleanLine(`${'  '.repeat(step.split('/').length - 1)}${step}${facts.length > 0 ? ` (${facts.join(', ')})` : ''}`)}`
}
