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
import type { CompensateRun } from './cancel-workflow.ts'

/** A run that somebody wants to act on. */
type FoundRun = {
  readonly paths: RunPaths
  readonly request: RunRequest
  readonly summary: RunSummary
  /** Whether a runner has it; one that will try again has it although the last attempt is over. */ readonly live: boolean
}

/**
 * Finds a run and where it stands. What nobody runs any more is finished first, also where its lock
 * is gone. Throws like openRun.
 */
async function findRunToControl(
  cwd: string,
  { run, config }: { readonly run: string; readonly config?: string },
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

type CancelContext = {
  readonly cwd: string
  readonly signal: AbortSignal
  readonly env: { readonly [name: string]: string | undefined }
}

/**
 * Puts the cancel file into the folder of a run, which its runner waits for, and waits until it is
 * over. A run that waits for its next attempt can be cancelled too. `takeBack` goes on with a
 * workflow that nobody performs, so that it takes back what it did; default: this process does.
 */
export async function cancelRun(
  {
    run,
    wait = true,
    reason,
    ...where
  }: {
    readonly run: string
    readonly wait?: boolean
    readonly reason?: string
    readonly config?: string
  },
  { cwd, signal, env }: CancelContext,
  takeBack?: CompensateRun,
): Promise<{ readonly run_id: string; readonly state: RunState }> {
  const root = findRunsFolder(cwd, where.config)
  const light = isRunIdWithoutFolder(root, run)
    ? await (
        await import('./cancel-workflow.ts')
      ).cancelInlineExecution(
        root,
        run,
        { wait, reason, config: where.config, takeBack },
        { cwd, signal, env },
      )
    : undefined
  if (light) return light
  const {
    paths,
    request,
    summary: { state },
    live,
  } = await findRunToControl(cwd, { run, ...where })
  if (request.command === 'workflow' && isFinished(state) && !live && state !== 'completed') {
    const { cancelOrphanedWorkflow, createCompensator } = await import('./cancel-workflow.ts')
    if (
      await cancelOrphanedWorkflow(
        paths,
        request,
        reason,
        takeBack ?? createCompensator({ env, signal }),
      )
    )
      return {
        run_id: paths.id,
        state: (await findRunToControl(cwd, { run: paths.id, ...where })).summary.state,
      }
  }
  if (isFinished(state) && !live)
    throw new ToolError('PRECONDITION', `${paths.id} is over: it is ${state}`, {
      field: 'run',
      suggestion: `toolable runs show ${paths.id}`,
    })
  writeFileAtomic(paths.cancel, reason === undefined ? '' : `${reason}\n`)
  if (!wait) return { run_id: paths.id, state }
  const isGone = await watchFolderUntil(paths.folder, signal, async () =>
    isRunLive(paths) ? undefined : true,
  )
  if (isGone === undefined)
    throw new ToolError('CANCELLED', 'nobody waits for the end of the run any more')
  // Its runner may have died before it could tell.
  const {
    summary: { state: ended },
  } = await findRunToControl(cwd, { run: paths.id, ...where })
  return { run_id: paths.id, state: ended }
}

/** An answer that was given, as it was understood. */
export type AnsweredRun = {
  readonly run_id: string
  readonly question: string
  readonly value: unknown
  /** The command with which a run that nobody performs takes the answer. */ readonly go_on?: string
}

/** Which question of which run is answered; without `question` the only open one. */
export type QuestionSelector = {
  readonly run: string
  readonly question?: string
  readonly config?: string
}

/** Answers by the command line. */
export function answerFromCommandLine(
  { value, ...which }: QuestionSelector & { readonly value: string },
  { cwd, caller }: { readonly cwd: string; readonly caller?: string | undefined },
): Promise<AnsweredRun> {
  return answerQuestionOf(
    which,
    (question) => parseTypedAnswer(question, value),
    caller === undefined ? {} : { by: caller },
    { cwd },
  )
}

/**
 * Writes an answer where the runner looks for it; only the first can. `read` gives it for the
 * question that is meant. Throws CONFLICT, and who was first, where the question is answered.
 */
export async function answerQuestionOf(
  { question: wanted, ...which }: QuestionSelector,
  read: (question: RunQuestion) => unknown,
  words: AnswerAttribution,
  { cwd }: { readonly cwd: string },
): Promise<AnsweredRun> {
  const root = findRunsFolder(cwd, which.config)
  const light = isRunIdWithoutFolder(root, which.run)
    ? await (await import('../../workflow/inline-run.ts')).findInlineRun(root, which.run)
    : undefined
  if (light)
    throw new ToolError(
      'PRECONDITION',
      light.execution.ended === undefined
        ? `${which.run} is executed inside a program, and takes answers from that alone`
        : `${which.run} is over: it is ${light.execution.state}`,
      { field: 'run', suggestion: `toolable runs show ${which.run}` },
    )
  const {
    paths,
    request,
    summary: { state, questions: asked },
    live,
  } = await findRunToControl(cwd, which)
  const isLeft = isFinished(state) && !live
  const questions = (
    isLeft && request.command === 'workflow'
      ? (await (await import('../../workflow/run-record.ts')).readWorkflowRun(paths)).open
      : asked
  ) as readonly RunQuestion[]
  if (wanted !== undefined && !questions.some((question) => isSelected(question, wanted)))
    await requireUnanswered(paths, wanted)
  if (isLeft && questions.length === 0)
    throw new ToolError('PRECONDITION', `${paths.id} is over: it is ${state}`, {
      field: 'run',
      suggestion:
        state === 'completed'
          ? `toolable runs show ${paths.id}`
          : `toolable resume ${paths.id} --answer ${wanted ?? '<question>'}=<value>`,
    })
  const question = selectQuestion(questions, wanted, paths.id)
  const given = await submitAnswer(paths, question, await read(question), words)
  return {
    run_id: paths.id,
    question: question.id,
    value: given,
    ...compact({ go_on: isLeft ? `toolable resume ${paths.id}` : undefined }),
  }
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
  const names = open
    .map((question) => `${question.id} (${question.prompt.slice(0, 60)})`)
    .join(', ')
  throw new ToolError(
    meant.length === 0 ? 'NOT_FOUND' : 'INVALID_INPUT',
    meant.length === 0
      ? `${id} does not ask '${wanted}'; it asks ${names}`
      : `${id} asks several things: ${names}`,
    { field: 'question', suggestion: `toolable answer ${id} <value> --question ${open[0]!.id}` },
  )
}

// Whoever comes second wants to know that, and not that nobody asks.
async function requireUnanswered({ id, events }: RunPaths, wanted: string): Promise<void> {
  let by: unknown
  for await (const batch of readEventBatches(events)) {
    for (const { type, answer } of batch)
      if (
        type === 'runner_log' &&
        isObject(answer) &&
        answer['id'] === wanted &&
        answer['withdrawn'] !== true
      )
        by = answer['by']
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
 * perform or to hand over; what is said anew is written down. Throws CONFLICT where somebody else
 * goes on with it, PRECONDITION where there is nothing to go on with.
 */
export async function claimForResume(
  run: string,
  { timeout, heartbeatGrace, retries, allowLevel, answers, typedAnswers, secrets }: RunOptions,
  { cwd, config }: { readonly cwd: string; readonly config?: string | undefined },
): Promise<{ readonly paths: RunPaths; readonly request: RunRequest }> {
  const { paths } = await findRunToControl(cwd, compact({ run, config }))
  // Ours before anything is changed: of two who resume it one gets it, and the other changes
  // nothing.
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
  // The wish to end it belonged to the attempt before.
  await rm(paths.cancel, { force: true })
  return { paths, request: changed }
}

async function requireUnfinished(paths: RunPaths, request: RunRequest): Promise<void> {
  const { state, error } = await readRunSummary(paths, request)
  if (state === 'completed')
    throw new ToolError('PRECONDITION', `${paths.id} is completed: there is nothing to resume`, {
      suggestion: `toolable runs show ${paths.id}`,
    })
  if (request.command === 'workflow')
    await (
      await import('../../workflow/run-record.ts')
    ).requireResumable(paths, { state, code: error?.code })
}
