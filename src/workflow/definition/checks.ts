/**
 * Checks that need more than the definition itself: inputs against tool schemas, and defaults of
 * questions.
 */

import { compileQuestionSchema, validateAnswer } from '../../core/questions.ts'
import type { KeyPath } from '../../protocol/documents.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { Registry } from '../../registry/types.ts'
import { describeUnknownName, findClosest, shorten } from '../../util/text.ts'
import { compact, isObject } from '../../util/values.ts'
import type { JsonSchema } from '../../util/values.ts'
import { EXPRESSION_OPEN } from '../expression-parser.ts'
import type { DecisionStep, Workflow, WorkflowStep } from './model.ts'
import { getQuestionPath, getStepSource, locateFindings } from './reader.ts'
import type { DefinitionFinding, StepSource, WorkflowProblem } from './reader.ts'
import { getFieldsIfUnknown } from './references.ts'
import { getToolName, walkSteps } from './walk.ts'
import type { WalkedStep } from './walk.ts'

type KnownTools = Pick<Registry, 'list' | 'schema'>

/**
 * What is wrong with the tools of a workflow: those that the registry does not have, and inputs
 * that cannot fit. The first ones are told, all of them are counted.
 */
export async function checkTools(
  workflow: Workflow,
  registry: KnownTools,
): Promise<{ readonly problems: readonly WorkflowProblem[]; readonly found: number }> {
  const schemas = new Map<string, Promise<JsonSchema | ToolFault>>()
  const schemaOf = (tool: string): Promise<JsonSchema | ToolFault> =>
    schemas.get(tool) ?? schemas.set(tool, readToolSchema(tool, registry)).get(tool)!
  const findings: DefinitionFinding[] = []
  for (const walked of walkSteps(workflow)) {
    if (walked.step.type !== 'tool') continue
    const schema = await schemaOf(getToolName(walked.step))
    if (schema instanceof ToolFault)
      findings.push(
        createFinding(
          walked,
          ['tool' in walked.step ? 'tool' : 'command'],
          schema.message,
          schema.fix,
        ),
      )
    else if ('tool' in walked.step)
      findings.push(
        ...(await checkStepInput(walked, walked.step.input ?? {}, schema, walked.step.tool)),
      )
  }
  return { problems: await locateFindings(findings), found: findings.length }
}

class ToolFault {
  readonly message: string
  readonly fix: string
  constructor(message: string, fix: string) {
    this.message = message
    this.fix = fix
  }
}

async function readToolSchema(tool: string, registry: KnownTools): Promise<JsonSchema | ToolFault> {
  try {
    return (await registry.schema(tool)).input
  } catch (error) {
    if (!ToolError.is(error)) throw error
    if (error.code !== 'NOT_FOUND')
      return new ToolFault(
        `the tool '${tool}' cannot be used: ${error.message}`,
        error.suggestion?.fix ?? 'See toolable list --problems',
      )
    const { message, meant } = describeUnknownName(
      'tool',
      tool,
      registry.list().flatMap(({ id, name }) => [name, id]),
    )
    return new ToolFault(
      message,
      meant === undefined ? 'toolable list tells which tools there are' : `Write ${meant}`,
    )
  }
}

type StepInputFields = { readonly [field: string]: unknown }

/**
 * What is known to be wrong with the input of a step before anything begins; `whose` takes it, by
 * this schema. Values that come from expressions are left open.
 */
export async function checkStepInput(
  walked: WalkedStep,
  input: unknown,
  schema: JsonSchema,
  whose: string,
): Promise<readonly DefinitionFinding[]> {
  if (!containsExpression(input)) return checkAgainstSchema(walked, input, schema)
  return isObject(input)
    ? [
        ...findUnknownFields(walked, input, schema, whose),
        ...findMissingFields(walked, input, schema, whose),
        ...(await checkKnownFields(walked, input, schema)),
      ]
    : []
}

/** A finding about a part of a step, at the place where the step was written. */
export function createFinding(
  { step, path }: WalkedStep,
  keys: readonly (string | number)[],
  message: string,
  fix?: string,
): DefinitionFinding {
  const place: StepSource = getStepSource(step) ?? { source: {}, path }
  return compact({
    source: place.source,
    path: place.bare ? place.path : [...place.path, ...keys],
    message,
    fix,
  })
}

function containsExpression(value: unknown): boolean {
  return JSON.stringify(value).includes(EXPRESSION_OPEN)
}

function findUnknownFields(
  walked: WalkedStep,
  input: StepInputFields,
  schema: JsonSchema,
  whose: string,
): readonly DefinitionFinding[] {
  return Object.keys(input).flatMap((field) => {
    const known = getFieldsIfUnknown(schema, field)
    const meant =
      known &&
      findClosest(
        field,
        known.filter((one) => !Object.hasOwn(input, one)),
      )
    return known
      ? [
          createFinding(
            walked,
            ['input', field],
            `'${whose}' has no field '${shorten(field, 60)}'${meant === undefined ? '' : `; did you mean '${meant}'?`}`,
            `Its fields are ${known.join(', ')}`,
          ),
        ]
      : []
  })
}

function findMissingFields(
  walked: WalkedStep,
  input: StepInputFields,
  schema: JsonSchema,
  whose: string,
): readonly DefinitionFinding[] {
  const required = Array.isArray(schema['required'])
    ? (schema['required'] as readonly string[])
    : []
  return required
    .filter((field) => !Object.hasOwn(input, field) && !hasDefault(schema, field))
    .map((field) => createFinding(walked, ['input'], `'${whose}' needs '${field}'`, `Add ${field}`))
}

function hasDefault({ properties }: JsonSchema, field: string): boolean {
  const found: unknown =
    isObject(properties) && Object.hasOwn(properties, field) ? properties[field] : undefined
  return isObject(found) && Object.hasOwn(found, 'default')
}

// What `properties` says of a field holds whatever the others are; the rest of a schema may depend
// on what is not known yet.
async function checkKnownFields(
  walked: WalkedStep,
  input: StepInputFields,
  schema: JsonSchema,
): Promise<readonly DefinitionFinding[]> {
  const closed = Object.entries(input).filter(([, value]) => !containsExpression(value))
  const kept = ['$schema', '$defs', 'definitions', 'properties']
    .filter((key) => Object.hasOwn(schema, key))
    .map((key) => [key, schema[key]])
  return closed.length === 0
    ? []
    : checkAgainstSchema(walked, Object.fromEntries(closed), {
        ...Object.fromEntries(kept),
        type: 'object',
        additionalProperties: true,
      })
}

async function checkAgainstSchema(
  walked: WalkedStep,
  input: unknown,
  schema: JsonSchema,
): Promise<readonly DefinitionFinding[]> {
  const [{ compileSchema }, { describeIssues }] = await Promise.all([
    import('../../define/schema/compile.ts'),
    import('../../define/schema/issues.ts'),
  ])
  const checked = await compileSchema(schema, 'input').check(input)
  return checked.ok
    ? []
    : checked.issues.map((issue) =>
        createFinding(
          walked,
          ['input', ...issue.path.map((key) => (typeof key === 'number' ? key : String(key)))],
          describeIssues([issue]),
        ),
      )
}

type AskedFields = Pick<DecisionStep, 'options' | 'schema' | 'default'>

/**
 * The defaults of questions that would not be accepted as an answer. What is put together only when
 * they are asked is checked then.
 */
export async function findInvalidDefaults(
  workflow: Workflow,
): Promise<readonly DefinitionFinding[]> {
  const findings: DefinitionFinding[] = []
  for (const { step, path } of walkSteps(workflow)) {
    const { source, path: at } = getStepSource(step) ?? { source: {}, path }
    const { asked, place } = getQuestion(step, at) ?? {}
    if (!asked || !place || asked.default === undefined || hasTemplatedAnswer(asked)) continue
    const { options, schema } = asked
    const checked = await validateAnswer(
      options ? { kind: 'decision', options } : { kind: 'input' },
      options || !schema ? undefined : await compileQuestionSchema({ schema }),
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

function getQuestion(
  step: WorkflowStep,
  path: KeyPath,
): { readonly asked: AskedFields; readonly place: KeyPath } | undefined {
  if (step.type === 'ai_decision') return { asked: step, place: path }
  return step.type === 'wait' && 'answer' in step
    ? { asked: step.answer, place: getQuestionPath(step.answer) ?? [...path, 'wait', 'answer'] }
    : undefined
}

function hasTemplatedAnswer({ options, default: preset }: AskedFields): boolean {
  return JSON.stringify([preset, options?.map(({ value }) => value)]).includes(EXPRESSION_OPEN)
}
