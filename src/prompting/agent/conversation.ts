import { isObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { AgentMessage } from './model-type.ts'

type ToolMessage = Extract<AgentMessage, { role: 'tool' }>

const ROLES = ['system', 'user', 'assistant', 'tool']

/** Refuses what is no conversation, with the place: it may come from a file that somebody wrote. Throws INVALID_INPUT. */
export function checkMessages(messages: readonly unknown[]): void {
  messages.forEach((message, index) => {
    const problem = problemOf(message)
    if (problem !== undefined)
      throw new ToolError('INVALID_INPUT', `message ${index + 1} of the conversation ${problem}`, {
        field: 'task',
        suggestion:
          "Messages are { role: 'user', text }, { role: 'assistant', text, calls: [] } and { role: 'tool', id, name, text }, as a result has them",
      })
  })
}

/** The conversation with an answer to every call right behind it, in the order of the calls: providers refuse any other. What nobody answered is told as failed, and why. */
export function withAnswers(messages: readonly AgentMessage[], why: string): AgentMessage[] {
  const whole: AgentMessage[] = []
  let position = 0
  while (position < messages.length) {
    const message = messages[position]!
    position += 1
    whole.push(message)
    if (message.role !== 'assistant' || message.calls.length === 0) continue
    const next = messages.findIndex(({ role }, index) => index >= position && role === 'assistant')
    const behind = messages.slice(position, next === -1 ? undefined : next)
    const answers = behind.filter((one) => one.role === 'tool')
    whole.push(
      ...message.calls.map(
        ({ id, name }) => answers.find((answer) => answer.id === id) ?? unanswered(id, name, why),
      ),
      ...behind.filter(({ role }) => role !== 'tool'),
    )
    position += behind.length
  }
  return whole
}

/** What a model is told about a call that nobody answered. */
export function unanswered(id: string, name: string, why: string): ToolMessage {
  return {
    role: 'tool',
    id,
    name,
    text: JSON.stringify({
      error: {
        code: 'CANCELLED',
        message: `the call was not made, or not to its end: the run ended before (${why})`,
      },
    }),
    failed: true,
  }
}

function problemOf(message: unknown): string | undefined {
  if (!isObject(message)) return 'is no object'
  const { role, text, calls, id } = message
  if (!ROLES.includes(String(role)))
    return `has the role ${JSON.stringify(role) ?? 'undefined'}; there are ${ROLES.join(', ')}`
  if (typeof text !== 'string') return 'has no text'
  if (
    role === 'assistant' &&
    !(
      Array.isArray(calls) &&
      calls.every(
        (call) =>
          isObject(call) && typeof call['id'] === 'string' && typeof call['name'] === 'string',
      )
    )
  )
    return "has no list of 'calls' with ids and names; an empty one, where the model called nothing"
  return role === 'tool' && typeof id !== 'string'
    ? "has no 'id' of the call that it answers"
    : undefined
}
