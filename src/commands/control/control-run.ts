/**
 * Acting on a run: finding it, cancelling it, answering its question, and claiming it for another
 * attempt.
 */

import { rm } from 'node:fs/promises'
import { parseTypedAnswer } from '../../core/questions.ts'
import type { RunState } from '../../protocol/run-state.ts'
import { isFinished } from '../../protocol/run-state.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { AnswerAttribution } from '../../runner/answer-channels.ts'
import { submitAnswer } from '../../runner/answer-channels.ts'
import { watchFolderUntil } from '../../runner/files.ts'
import { openRun, readRunRequest } from '../../runner/find-run.ts'
import { claimRun, isRunLive } from '../../runner/lock.ts'
import { readEventBatches } from '../../runner/log-reader.ts'
import type { RunQuestion } from '../../runner/questions.ts'
import { recoverRun, recoverRuns } from '../../runner/recover.ts'
import type { RunOptions, RunRequest } from '../../runner/request.ts'
import type { RunPaths } from '../../runner/run-paths.ts'
import { findRunsFolder, isRunIdWithoutFolder } from '../../runner/run-paths.ts'
import { readRunSummary } from '../../runner/summary.ts'
import { writeFileAtomic } from '../../util/lock-file.ts'
import { compact, isObject } from '../../util/values.ts'
import type { RunSummary } from '../../views/model/run-summary.ts'
import type { CommandContext } from '../command.ts'
import { createRunOverError } from '../command.ts'
import type { CompensateRun } from './orphaned-workflows.ts'

/** A run to act on. */
type FoundRun = {
  readonly paths: RunPaths
  readonly request: RunRequest
  readonly summary: RunSummary
  /** Whether a runner has it; between two attempts it does too. */
  readonly live: boolean
}

/**
 * Finds a run and its state. One whose runner died is finished first, also where its lock is gone.
 * Throws like openRun.
 */
async function findRunToControl(
  cwd: string,
  run: string,
  config: string | undefined,
): Promise<FoundRun> {
  const root = findRunsFolder(cwd, config)
  await recoverRuns(root)
  const { paths, request } = openRun(root, run)
  const summary = await readRunSummary(paths, request)
  const live = isRunLive(paths)
  if (live || isFinished(summary.state)) return { paths, request, summary, live }
  await recoverRun(paths)
  return { paths, request, summary: await readRunSummary(paths, request), live: false }
}

type CancelRunInput = {
  readonly run: string
  readonly wait?: boolean
  readonly reason?: string
  readonly config?: string
}

/**
 * Writes the cancel file that the runner of a run waits for, and waits until the run is over. A run
 * that waits for its next attempt can be cancelled too. `compensate` continues a workflow that no
 * process performs, so that its compensations run; default: this process does.
 */
export async function cancelRun(
  { run, wait = true, reason, config }: CancelRunInput,
  context: CommandContext & { readonly signal: AbortSignal },
  compensate?: CompensateRun,
): Promise<{ readonly run_id: string; readonly state: RunState }> {
  const { cwd, signal } = context
  const root = findRunsFolder(cwd, config)
  if (isRunIdWithoutFolder(root, run)) {
    const { cancelInlineExecution } = await import('./orphaned-workflows.ts')
    const request = { wait, reason, config, compensate }
    const cancelled = await cancelInlineExecution(root, run, request, context)
    if (cancelled) return cancelled
  }
  const { paths, request, summary, live } = await findRunToControl(cwd, run, config)
  const { id: run_id } = paths
  const { state } = summary
  const isOver = isFinished(state) && !live
  const readEndState = async (): Promise<RunState> =>
    (await findRunToControl(cwd, run_id, config)).summary.state
  if (request.command === 'workflow' && isOver && state !== 'completed') {
    const { cancelOrphanedWorkflow, createCompensator } = await import('./orphaned-workflows.ts')
    const perform = compensate ?? createCompensator(context)
    if (await cancelOrphanedWorkflow(paths, request, reason, perform))
      return { run_id, state: await readEndState() }
  }
  if (isOver) throw createRunOverError(run_id, state)
  writeFileAtomic(paths.cancel, reason === undefined ? '' : `${reason}\n`)
  if (!wait) return { run_id, state }
  const isGone = await watchFolderUntil(paths.folder, signal, async () =>
    isRunLive(paths) ? undefined : true,
  )
  if (isGone === undefined)
    throw new ToolError('CANCELLED', 'nobody waits for the end of the run any more')
  // Its runner may have died before it could record the end.
  return { run_id, state: await readEndState() }
}

/** An answer that was given, as it was understood. */
export type AnsweredRun = {
  readonly run_id: string
  readonly question: string
  readonly value: unknown
  /** The command that passes the answer to a run that no process performs. */
  readonly go_on?: string
}

/** Which question of which run is answered; without `question` the only open one. */
export type QuestionSelector = {
  readonly run: string
  readonly question?: string
  readonly config?: string
}

/** Answers with a text that was typed. */
export function answerFromCommandLine(
  { value, ...which }: QuestionSelector & { readonly value: string },
  { cwd, caller }: { readonly cwd: string; readonly caller?: string | undefined },
): Promise<AnsweredRun> {
  const read = (question: RunQuestion): unknown => parseTypedAnswer(question, value)
  return answerQuestionOf(which, read, compact({ by: caller }), cwd)
}

/**
 * Writes an answer where the runner looks for it; only the first can. `read` gives it for the
 * question that is meant. Throws CONFLICT, and who was first, where the question is answered.
 */
export async function answerQuestionOf(
  { run, question: wanted, config }: QuestionSelector,
  read: (question: RunQuestion) => unknown,
  attribution: AnswerAttribution,
  cwd: string,
): Promise<AnsweredRun> {
  const root = findRunsFolder(cwd, config)
  if (isRunIdWithoutFolder(root, run)) await rejectInlineRun(root, run)
  const { paths, request, summary, live } = await findRunToControl(cwd, run, config)
  const { state } = summary
  const isLeft = isFinished(state) && !live
  const questions = (
    isLeft && request.command === 'workflow'
      ? (await (await import('../../workflow/run-record.ts')).readWorkflowRun(paths)).open
      : summary.questions
  ) as readonly RunQuestion[]
  if (wanted !== undefined && !questions.some((question) => isSelected(question, wanted)))
    await requireUnanswered(paths, wanted)
  if (isLeft && questions.length === 0) {
    const resume = `toolable resume ${paths.id} --answer ${wanted ?? '<question>'}=<value>`
    throw createRunOverError(paths.id, state, state === 'completed' ? undefined : resume)
  }
  const question = selectQuestion(questions, wanted, paths.id)
  const value = await submitAnswer(paths, question, await read(question), attribution)
  const answered = { run_id: paths.id, question: question.id, value }
  return isLeft ? { ...answered, go_on: `toolable resume ${paths.id}` } : answered
}

// What a program executes without a folder takes answers from that program alone.
async function rejectInlineRun(root: string, run: string): Promise<void> {
  const { findInlineRun } = await import('../../workflow/inline-run.ts')
  const inline = await findInlineRun(root, run)
  if (!inline) return
  if (inline.execution.ended !== undefined) throw createRunOverError(run, inline.execution.state)
  throw new ToolError(
    'PRECONDITION',
    `${run} is executed inside a program, and takes answers from that alone`,
    { field: 'run', suggestion: `toolable runs show ${run}` },
  )
}

function isSelected({ id, key, action }: RunQuestion, wanted: string): boolean {
  return [id, key, action].includes(wanted)
}

function selectQuestion(
  open: readonly RunQuestion[],
  wanted: string | undefined,
  id: string,
): RunQuestion {
  if (open.length === 0)
    throw new ToolError('PRECONDITION', `${id} asks nothing now`, {
      suggestion: `toolable watch ${id}`,
    })
  const meant =
    wanted === undefined ? open : open.filter((question) => isSelected(question, wanted))
  if (meant.length === 1) return meant[0]!
  const names = open.map((each) => `${each.id} (${each.prompt.slice(0, 60)})`).join(', ')
  const options = {
    field: 'question',
    suggestion: `toolable answer ${id} <value> --question ${open[0]!.id}`,
  }
  if (meant.length > 0)
    throw new ToolError('INVALID_INPUT', `${id} asks several things: ${names}`, options)
  throw new ToolError('NOT_FOUND', `${id} does not ask '${wanted}'; it asks ${names}`, options)
}

// A second answer fails because it is the second, not because the question is unknown.
async function requireUnanswered({ id, events }: RunPaths, wanted: string): Promise<void> {
  let by: unknown
  for await (const batch of readEventBatches(events)) {
    for (const { type, answer } of batch) {
      if (type !== 'runner_log' || !isObject(answer)) continue
      if (answer['id'] === wanted && answer['withdrawn'] !== true) by = answer['by']
    }
  }
  if (typeof by === 'string')
    throw new ToolError(
      'CONFLICT',
      `the question '${wanted}' has an answer already: ${by} was first`,
      { field: 'question', suggestion: `toolable runs show ${id}` },
    )
}

/**
 * Makes a run that failed or was cancelled ready for its next attempt, which this process has to
 * perform or to hand over; new options are recorded. Throws CONFLICT where another process resumes
 * it, PRECONDITION where there is nothing to resume.
 */
export async function claimForResume(
  run: string,
  { timeout, heartbeatGrace, retries, allowLevel, answers, typedAnswers, secrets }: RunOptions,
  { cwd, config }: { readonly cwd: string; readonly config?: string | undefined },
): Promise<{ readonly paths: RunPaths; readonly request: RunRequest }> {
  const { paths } = await findRunToControl(cwd, run, config)
  // Claimed before anything is changed: of two processes that resume it, one changes nothing.
  const letGo = claimRun(paths)
  const request = readRunRequest(paths)
  try {
    await requireUnfinished(paths, request)
  } catch (error) {
    letGo()
    throw error
  }
  const changed: RunRequest = {
    ...request,
    ...compact({
      timeout_s: timeout,
      heartbeat_grace_s: heartbeatGrace,
      retries,
      allow_level: allowLevel,
      secrets: secrets ? { ...request.secrets, ...secrets } : undefined,
      answers: answers ? { ...request.answers, ...answers } : undefined,
      typed_answers: typedAnswers
        ? [...new Set([...(request.typed_answers ?? []), ...typedAnswers])]
        : undefined,
    }),
  }
  writeFileAtomic(paths.request, `${JSON.stringify(changed, undefined, 2)}\n`)
  // The request to cancel belonged to the attempt before.
  await rm(paths.cancel, { force: true })
  return { paths, request: changed }
}

async function requireUnfinished(paths: RunPaths, request: RunRequest): Promise<void> {
  const { state, error } = await readRunSummary(paths, request)
  if (state === 'completed')
    throw new ToolError('PRECONDITION', `${paths.id} is completed: there is nothing to resume`, {
      suggestion: `toolable runs show ${paths.id}`,
    })
  if (request.command !== 'workflow') return
  const { requireResumable } = await import('../../workflow/run-record.ts')
  await requireResumable(paths, { state, code: error?.code })
}
