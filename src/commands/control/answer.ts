import { readTyped } from '../../call/read-typed.ts'
import { isObject } from '../../contract/json.ts'
import { isOver } from '../../contract/run-state.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { findRunsFolder } from '../../runner/folder/find-runs-folder.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import type { AnswerWords } from '../../runner/interactions/answer-file.ts'
import { giveAnswer } from '../../runner/interactions/give-answer.ts'
import type { Question } from '../../runner/interactions/read-question.ts'
import { readBatches } from '../../runner/log/read-log.ts'
import { hasNoFolder } from '../../runner/folder/has-no-folder.ts'
import { lookUp } from './look-up.ts'

/** An answer that was given, as it was understood. */
export type AnsweredRun = {
  readonly run_id: string
  readonly question: string
  readonly value: unknown
  /** The command with which a run that nobody performs takes the answer. */ readonly go_on?: string
}

/** Which question of which run is answered; without `question` the only open one. */
export type WhichQuestion = {
  readonly run: string
  readonly question?: string
  readonly config?: string
}

/** Answers by the command line. */
export function answerRun(
  { value, ...which }: WhichQuestion & { readonly value: string },
  { cwd, caller }: { readonly cwd: string; readonly caller?: string | undefined },
): Promise<AnsweredRun> {
  return giveTo(
    which,
    (question) => readTyped(question, value),
    caller === undefined ? {} : { by: caller },
    { cwd },
  )
}

/** Writes an answer where the runner looks for it; only the first can. `read` gives it for the question that is meant. Throws CONFLICT, and who was first, where the question is answered. */
export async function giveTo(
  { question: wanted, ...which }: WhichQuestion,
  read: (question: Question) => unknown,
  words: AnswerWords,
  { cwd }: { readonly cwd: string },
): Promise<AnsweredRun> {
  const root = findRunsFolder(cwd, which.config)
  const light = hasNoFolder(root, which.run)
    ? await (await import('../../workflow/run/open-light.ts')).findLight(root, which.run)
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
  } = await lookUp(cwd, which)
  const isLeft = isOver(state) && !live
  const questions = (
    isLeft && request.command === 'workflow'
      ? (await (await import('../../workflow/run/read-workflow-run.ts')).readWorkflowRun(paths))
          .open
      : asked
  ) as readonly Question[]
  if (wanted !== undefined && !questions.some((question) => isMeant(question, wanted)))
    await requireUnanswered(paths, wanted)
  if (isLeft && questions.length === 0)
    throw new ToolError('PRECONDITION', `${paths.id} is over: it is ${state}`, {
      field: 'run',
      suggestion:
        state === 'completed'
          ? `toolable runs show ${paths.id}`
          : `toolable resume ${paths.id} --answer ${wanted ?? '<question>'}=<value>`,
    })
  const question = pick(questions, wanted, paths.id)
  const given = await giveAnswer(paths, question, await read(question), words)
  return {
    run_id: paths.id,
    question: question.id,
    value: given,
    ...(isLeft && { go_on: `toolable resume ${paths.id}` }),
  }
}

function isMeant({ id, key, action }: Question, wanted: string): boolean {
  return [id, key, action].includes(wanted)
}

function pick(open: readonly Question[], wanted: string | undefined, id: string): Question {
  if (open.length === 0)
    throw new ToolError('PRECONDITION', `${id} asks nothing now`, {
      suggestion: `toolable watch ${id}`,
    })
  const meant = wanted === undefined ? open : open.filter((question) => isMeant(question, wanted))
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
  for await (const batch of readBatches(events)) {
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
