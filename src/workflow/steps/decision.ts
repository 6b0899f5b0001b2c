/**
 * The step kind `ai_decision`: asks a person, an agent or a policy to decide, and waits for the
 * answer.
 */

import { isObject } from '../../util/values.ts'
import type { JsonObject } from '../../util/values.ts'
import type { DecisionStep } from '../definition/model.ts'
import type { ExpressionUse } from '../definition/reader.ts'
import { interpolate } from '../expressions.ts'
import { createOkRecord } from './flow.ts'
import type { ParseStep, StepKind } from './flow.ts'
import { askQuestion, interpolateOptions, parseOptions } from './questions.ts'

/** `decision_type: choose_strategy` */
export const parseDecisionStep: ParseStep = (given, path, { reader }) => {
  const { decision_type, instruction, options, schema, default: fallback, context } = given
  const uses: ExpressionUse[] = []
  const text = (key: string, value: unknown): boolean =>
    value === undefined || reader.matchesShape({ is: 'text' }, value, [...path, key])
  const value = (key: string, found: unknown): unknown => {
    const read = reader.value(found, [...path, key])
    uses.push(...read.uses)
    return read.value
  }
  if (!text('decision_type', decision_type)) return { fields: undefined }
  text('instruction', instruction)
  for (const [key, found] of Object.entries({ schema, context }))
    if (found !== undefined && !isObject(found))
      reader.addProblem([...path, key], `'${key}' must be an object`)
  const read =
    options === undefined ? undefined : parseOptions(reader, options, [...path, 'options'])
  return {
    fields: {
      decision_type,
      ...(instruction !== undefined && { instruction: value('instruction', instruction) }),
      ...(read && { options: read.options }),
      ...(schema !== undefined && { schema: reader.value(schema, [...path, 'schema']).value }),
      ...(fallback !== undefined && { default: value('default', fallback) }),
      ...(context !== undefined && { context: value('context', context) }),
    },
    uses: [...uses, ...(read?.uses ?? [])],
  }
}

/** A decision of whoever supervises: a person, an agent, a policy. */
export const decisionStep: StepKind<DecisionStep> = {
  retriesByDefault: false,
  enforceTimeout: false,
  *run(
    { decision_type, instruction, options, schema, default: preset, context, timeout },
    { scope },
    path,
  ) {
    const prompt =
      instruction === undefined ? decision_type : String(interpolate(instruction, scope))
    const answer = yield* askQuestion(path, {
      kind: options ? 'decision' : 'input',
      action: decision_type,
      key: decision_type,
      prompt,
      ...(options && { options: interpolateOptions(options, scope) }),
      ...(schema && { schema }),
      ...(preset !== undefined && { default: interpolate(preset, scope) }),
      ...(context && { context: interpolate(context, scope) as JsonObject }),
      ...(timeout !== undefined && { timeout }),
    })
    return createOkRecord(answer)
  },
}
