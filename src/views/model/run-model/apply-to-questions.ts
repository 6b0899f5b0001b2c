import { isObject } from '../../../contract/json.ts'
import { isOver } from '../../../contract/run-state.ts'
import type { RunEvent } from '../../../contract/run-state.ts'
import type { OpenQuestion } from '../summary/summary.ts'
import type { RunModel } from './run-model-type.ts'

const MOST_QUESTIONS = 200

/** What an event means for the questions of a run. */
export function applyToQuestions(model: RunModel, event: RunEvent, at: number): void {
  const { type, interaction, answer } = event
  if (type === 'action_required' && isObject(interaction) && typeof interaction['id'] === 'string')
    return ask(model, interaction as OpenQuestion, at)
  // Whoever begins anew asks anew, and nobody waits for a run that is over.
  if (type === 'runner_start' || (type === 'runner_end' && isOver(model.state)))
    for (const one of model.questions) if (!one.answered) one.withdrawn = true
  if (type !== 'runner_log' || !isObject(answer)) return
  const found = model.questions.findLast(
    ({ question, answered, withdrawn }) => question.id === answer['id'] && !answered && !withdrawn,
  )
  if (!found) return
  const { by, value, note } = answer
  if (answer['withdrawn'] === true) found.withdrawn = true
  else
    found.answered = {
      at,
      ...(typeof by === 'string' && { by }),
      ...(value !== undefined && { value }),
      ...(typeof note === 'string' && { note }),
    }
}

function ask(model: RunModel, question: OpenQuestion, at: number): void {
  const { timeout } = question
  if (model.questions.length >= MOST_QUESTIONS) model.questions.splice(0, 1)
  model.questions.push({
    question,
    asked: at,
    ...(typeof timeout === 'number' && { deadline: at + timeout * 1000 }),
  })
}
