/**
 * The step kind `ai_decision`: asks a person, an agent or a policy to decide, and waits for the
 * answer.
 */

import type { JsonObject } from '../../util/values.ts'
import { compact } from '../../util/values.ts'
import type { CommonStep } from '../definition/model.ts'
import { mapShape, textShape } from '../definition/schema.ts'
import { listExpressions } from '../expression-parser.ts'
import { interpolate } from '../expressions.ts'
import type { StepKind } from './kind.ts'
import { toPlanText } from './kind.ts'
import type { QuestionFields } from './questions.ts'
import { askQuestion, parseObject, parseQuestion, QUESTION_KEYS } from './questions.ts'

/** Asks for a decision, and waits for it. */
export type DecisionStep = CommonStep &
  QuestionFields & {
    readonly type: 'ai_decision'
    /** What is to be decided, as a word: answers may be given by it. */
    readonly decision_type: string
    readonly instruction?: string
    /** What the one who decides should know. */
    readonly context?: JsonObject
  }

declare module '../definition/model.ts' {
  interface StepTypes {
    readonly ai_decision: DecisionStep
  }
}

const KEYS = {
  decision_type: textShape('What is to be decided, as a word'),
  instruction: textShape('What whoever decides has to know'),
  ...QUESTION_KEYS,
  context: mapShape('Facts for whoever decides'),
}

export const decisionStep: StepKind<DecisionStep> = {
  forms: [
    {
      // decision_type: choose_strategy
      mark: 'decision_type',
      keys: KEYS,
      parse(given, { reader }) {
        const { decision_type, instruction } = given
        if (!reader.at('decision_type').matchesShape(KEYS.decision_type, decision_type))
          return undefined
        if (instruction !== undefined)
          reader.at('instruction').matchesShape(KEYS.instruction, instruction)
        const fields = compact({
          decision_type,
          instruction: reader.field(given, 'instruction'),
          ...parseQuestion(given, reader),
          context: parseObject(given, 'context', reader),
        })
        return { fields }
      },
    },
  ],
  enforcesTimeout: true,
  run(step, at, path) {
    const { decision_type, instruction, context, timeout } = step
    const prompt =
      instruction === undefined ? decision_type : String(interpolate(instruction, at.scope))
    return askQuestion(path, at, step, { action: decision_type, prompt, context, timeout })
  },
  label: ({ decision_type }) => `${decision_type}?`,
  brackets: ['{{', '}}'],
  plan: ({ instruction, decision_type }) => ({ question: instruction ?? decision_type }),
  describe: ({ question = '' }) => `asks: ${toPlanText(question)}`,
  expressions: ({ decision_type, instruction, options, default: preset, context }) =>
    listExpressions([decision_type, instruction, options, preset, context]),
  question: (step, path) => ({ asked: step, path }),
}
