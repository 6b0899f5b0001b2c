import type { Interaction } from '../contract/interaction.ts'
import { ToolError } from '../contract/tool-error.ts'
import { checkAnswer } from './check-answer.ts'
import { compileAsked } from './compile-asked.ts'

/** Throws INTERNAL where the default of a question is none of its answers: whoever asks could not handle it either. */
export async function checkDefault(question: Interaction): Promise<void> {
  if (question.default === undefined) return
  // It is handed on as it is, so that it has to be what a checked answer has become: the schema as JSON says that.
  const checked = await checkAnswer(question, await compileAsked(question), question.default)
  if (!checked.ok)
    throw new ToolError(
      'INTERNAL',
      `the default of the question '${question.prompt}' ${checked.problem}`,
      {
        suggestion: {
          action: 'abort',
          fix: 'The author of the tool should give a default that answers the question',
        },
      },
    )
}
