import type { Interaction } from '../contract/interaction.ts'

/** An answer as the person at the terminal types it, or as the caller of a session writes it; undefined where stdin would end instead. */
export function lineFor(
  question: Interaction,
  how: 'words' | 'line',
  answer: unknown,
): string | undefined {
  if (how === 'words') return typed(question, answer)
  if (question.kind === 'sample')
    return answer === undefined
      ? undefined
      : JSON.stringify({ type: 'sample_response', id: question.id, content: answer })
  if (question.dialogue)
    return answer === undefined
      ? undefined
      : JSON.stringify(
          typeof answer === 'object' && answer !== null ? answer : { text: String(answer) },
        )
  // Without a value it says that nobody answers, and the default counts.
  return JSON.stringify({ id: question.id, value: answer })
}

function typed({ kind, default: byDefault }: Interaction, answer: unknown): string | undefined {
  // The empty line takes the default; without one there is nothing to do but leave.
  if (answer === undefined) return byDefault === undefined ? undefined : ''
  if (typeof answer === 'string') {
    if (answer.includes('\n'))
      throw new Error(
        `what is typed at a terminal is one line, and the answer ${JSON.stringify(answer)} is more`,
      )
    return answer
  }
  if (kind === 'confirm' && typeof answer === 'boolean') return answer ? 'y' : 'n'
  return JSON.stringify(answer)
}
