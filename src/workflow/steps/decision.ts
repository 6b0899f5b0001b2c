/**
 * The step kind `ai_decision`: asks a person, an agent or a policy to decide, and waits for the
 * answer.
 */

import { compact, isObject } from '../../util/values.ts'
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
      ...compact({
        instruction: instruction !== undefined ? value('instruction', instruction) : undefined,
        options: read ? read.options : undefined,
        schema: schema !== undefined ? reader.value(schema, [...path, 'schema']).value : undefined,
        default: fallback !== undefined ? value('default', fallback) : undefined,
        context: context !== undefined ? value('context', context) : undefined,
      }),
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
    const answer = yield* askQuestion(
      path,
      compact({
        kind: options ? 'decision' : 'input',
        action: decision_type,
        key: decision_type,
        prompt,
        options: options ? interpolateOptions(options, scope) : undefined,
        schema,
        default: preset !== undefined ? interpolate(preset, scope) : undefined,
        context: context ? (interpolate(context, scope) as JsonObject) : undefined,
        timeout,
      }),
    )
    return createOkRecord(answer)
  },
}
