import { isOver } from '../../contract/run-state.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { giveAnswer } from '../../runner/interactions/give-answer.ts'
import type { Question } from '../../runner/interactions/read-question.ts'
import { readValue } from '../run/read-answers.ts'
import { findRunsFolder } from '../../runner/folder/find-runs-folder.ts'
import { hasNoFolder } from '../../runner/folder/has-no-folder.ts'
import { lookUp } from './look-up.ts'

/** Writes an answer where the runner looks for it; only the first can. */
export async function answerRun({ value, question: wanted, ...which }: { readonly run: string; readonly value: string; readonly question?: string; readonly config?: string }, { cwd }: { readonly cwd: string }): Promise<{ readonly run_id: string; readonly question: string; readonly value: unknown; /** The command with which a run that nobody performs takes the answer. */ readonly go_on?: string }> {
  const root = findRunsFolder(cwd, which.config)
  const light = hasNoFolder(root, which.run) ? await (await import('../../workflow/run/open-light.ts')).findLight(root, which.run) : undefined
  if (light) throw new ToolError('PRECONDITION', light.execution.ended === undefined ? `${which.run} is executed inside a program, and takes answers from that alone` : `${which.run} is over: it is ${light.execution.state}`, { field: 'run', suggestion: `toolable runs show ${which.run}` })
  const { paths, request, summary: { state, questions: asked }, live } = await lookUp(cwd, which)
  const isLeft = isOver(state) && !live
  const questions = isLeft && request.command === 'workflow' ? (await (await import('../../workflow/run/read-workflow-run.ts')).readWorkflowRun(paths)).open : asked
  if (isLeft && questions.length === 0) throw new ToolError('PRECONDITION', `${paths.id} is over: it is ${state}`, { field: 'run', suggestion: state === 'completed' ? `toolable runs show ${paths.id}` : `toolable resume ${paths.id} --answer ${wanted ?? '<question>'}=${value}` })
  const question = pick(questions as readonly Question[], wanted, paths.id)
  const given = await giveAnswer(paths, question, question.kind === 'sample' ? value : readValue(value))
  return { run_id: paths.id, question: question.id, value: given, ...(isLeft && { go_on: `toolable resume ${paths.id}` }) }
}

function pick(open: readonly Question[], wanted: string | undefined, id: string): Question {
  if (open.length === 0) throw new ToolError('PRECONDITION', `${id} asks nothing now`, { suggestion: `toolable watch ${id}` })
  const meant = wanted === undefined ? open : open.filter((question) => [question.id, question.key, question.action].includes(wanted))
  if (meant.length === 1) return meant[0]!
  const names = open.map((question) => `${question.id} (${question.prompt.slice(0, 60)})`).join(', ')
  throw new ToolError(meant.length === 0 ? 'NOT_FOUND' : 'INVALID_INPUT', meant.length === 0 ? `${id} does not ask '${wanted}'; it asks ${names}` : `${id} asks several things: ${names}`, { field: 'question', suggestion: `toolable answer ${id} <value> --question ${open[0]!.id}` })
}
