import { checkAnswer } from '../../call/check-answer.ts'
import { compileAsked } from '../../call/compile-asked.ts'
import type { KeyPath } from '../../contract/documents/document.ts'
import { OPEN } from '../expressions/parse-template.ts'
import type { Finding } from './finding.ts'
import { pathOfQuestion, sourceOfStep } from './source-of-step.ts'
import { walkSteps } from './walk-steps.ts'
import type { DecisionStep, Step, Workflow } from './workflow-type.ts'

type Asked = Pick<DecisionStep, 'options' | 'schema' | 'default'>

/** The defaults of questions that would not be accepted as an answer. What is put together only when they are asked is checked then. */
export async function findDefaultFaults(workflow: Workflow): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  for (const { step, path } of walkSteps(workflow)) {
    const { source, path: at } = sourceOfStep(step) ?? { source: {}, path }
    const { asked, place } = questionOf(step, at) ?? {}
    if (!asked || !place || asked.default === undefined || hasExpressions(asked)) continue
    const { options, schema } = asked
    const checked = await checkAnswer(
      options ? { kind: 'decision', options } : { kind: 'input' },
      options || !schema ? undefined : await compileAsked({ schema }),
      asked.default,
    )
    if (!checked.ok)
      findings.push({
        source,
        path: [...place, 'default'],
        message: `the default of the question ${checked.problem}`,
      })
  }
  return findings
}

function questionOf(
  step: Step,
  path: KeyPath,
): { readonly asked: Asked; readonly place: KeyPath } | undefined {
  if (step.type === 'ai_decision') return { asked: step, place: path }
  return step.type === 'wait' && 'answer' in step
    ? { asked: step.answer, place: pathOfQuestion(step.answer) ?? [...path, 'wait', 'answer'] }
    : undefined
}

function hasExpressions({ options, default: preset }: Asked): boolean {
  return JSON.stringify([preset, options?.map(({ value }) => value)]).includes(OPEN)
}
