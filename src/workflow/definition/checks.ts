/**
 * Checks that need more than the definition itself: whether schemas compile, inputs against the
 * schemas of tools and nested workflows, and defaults of questions. Apart because it loads the
 * schema compiler.
 */

import { compileQuestionSchema, validateAnswer } from '../../core/questions.ts'
import { compileSchema } from '../../define/schema/compile.ts'
import { describeIssues } from '../../define/schema/issues.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { Registry } from '../../registry/types.ts'
import { describeUnknownName, findClosest, shorten } from '../../util/text.ts'
import type { JsonObject, JsonSchema } from '../../util/values.ts'
import { compact, isObject } from '../../util/values.ts'
import { EXPRESSION_OPEN } from '../expression-parser.ts'
import type { PlacedQuestion } from '../steps/kind.ts'
import { getStepKind } from '../steps/table.ts'
import type { Workflow } from './model.ts'
import type { DefinitionFinding, DefinitionSource, WorkflowProblem } from './reader.ts'
import { getStepSource, locateFindings } from './reader.ts'
import { getFieldsIfUnknown } from './references.ts'
import type { WalkedStep } from './walk.ts'
import { walkSteps } from './walk.ts'

type KnownTools = Pick<Registry, 'list' | 'schema'>

/**
 * Finds the tools of a workflow that the registry does not have, and inputs that cannot fit. The
 * first problems are returned, and all of them are counted.
 */
export async function checkTools(
  workflow: Workflow,
  registry: KnownTools,
): Promise<{ readonly problems: readonly WorkflowProblem[]; readonly found: number }> {
  const schemas = new Map<string, Promise<JsonSchema | ToolFault>>()
  const findings: DefinitionFinding[] = []
  for (const walked of walkSteps(workflow)) {
    const tool = getStepKind(walked.step).tool?.(walked.step)
    if (!tool) continue
    const { name, key, input } = tool
    if (!schemas.has(name)) schemas.set(name, readToolSchema(name, registry))
    const schema = (await schemas.get(name))!
    if (schema instanceof ToolFault)
      findings.push(createFinding(walked, [key], schema.message, schema.fix))
    else if (input) findings.push(...(await checkStepInput(walked, input, schema, name)))
  }
  return { problems: await locateFindings(findings), found: findings.length }
}

class ToolFault {
  constructor(
    readonly message: string,
    readonly fix: string,
  ) {}
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

/** The inputs that do not fit the nested workflows they are for. */
export async function checkNestedInputs(workflow: Workflow): Promise<readonly DefinitionFinding[]> {
  const findings: DefinitionFinding[] = []
  for (const walked of walkSteps(workflow)) {
    const given = getStepKind(walked.step).nestedInput?.(walked.step)
    if (given)
      findings.push(...(await checkStepInput(walked, given.input, given.schema, given.name)))
  }
  return findings
}

// Values that come from expressions are unknown before the start.
async function checkStepInput(
  walked: WalkedStep,
  input: unknown,
  schema: JsonSchema,
  whose: string,
): Promise<readonly DefinitionFinding[]> {
  if (!containsExpression(input)) return checkAgainstSchema(walked, input, schema)
  if (!isObject(input)) return []
  return [
    ...findUnknownFields(walked, input, schema, whose),
    ...findMissingFields(walked, input, schema, whose),
    ...(await checkKnownFields(walked, input, schema)),
  ]
}

// A finding about a part of a step, at the place where the step was written.
function createFinding(
  { step, path }: WalkedStep,
  keys: readonly (string | number)[],
  message: string,
  fix?: string,
): DefinitionFinding {
  const place = getStepSource(step) ?? { source: {}, path }
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
  input: JsonObject,
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
  input: JsonObject,
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

// What `properties` says of a field does not depend on the others; the rest of a schema may.
async function checkKnownFields(
  walked: WalkedStep,
  input: JsonObject,
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
  const checked = await compileSchema(schema, 'input').check(input)
  if (checked.ok) return []
  return checked.issues.map((issue) => {
    const path = issue.path.map((key) => (typeof key === 'number' ? key : String(key)))
    return createFinding(walked, ['input', ...path], describeIssues([issue]))
  })
}

/**
 * The defaults of questions that would be rejected as an answer. Those with expressions are checked
 * when they are asked.
 */
export async function findInvalidDefaults(
  workflow: Workflow,
): Promise<readonly DefinitionFinding[]> {
  const findings: DefinitionFinding[] = []
  for (const { step, path: walkedPath } of walkSteps(workflow)) {
    const { source, path } = getStepSource(step) ?? { source: {}, path: walkedPath }
    const question = getStepKind(step).question?.(step, path)
    const problem = question && (await findDefaultProblem(question))
    if (problem !== undefined)
      findings.push({
        source,
        path: [...question!.path, 'default'],
        message: `the default of the question ${problem}`,
      })
  }
  return findings
}

async function findDefaultProblem({ asked }: PlacedQuestion): Promise<string | undefined> {
  const { options, schema, default: preset } = asked
  if (preset === undefined || containsExpression([preset, options?.map(({ value }) => value)]))
    return undefined
  const checked = await validateAnswer(
    options ? { kind: 'decision', options } : { kind: 'input' },
    options || !schema ? undefined : await compileQuestionSchema({ schema }),
    preset,
  )
  return checked.ok ? undefined : checked.problem
}

/** The schemas in a workflow that cannot be compiled. */
export function findInvalidSchemas(
  workflow: Workflow,
  source: DefinitionSource,
): readonly DefinitionFinding[] {
  const findings: DefinitionFinding[] = []
  const check = (
    schema: unknown,
    direction: 'input' | 'output',
    place: Pick<DefinitionFinding, 'source' | 'path'> | undefined,
  ): void => {
    const problem = place && isObject(schema) ? getSchemaProblem(schema, direction) : undefined
    if (problem !== undefined)
      findings.push({ source: place!.source, path: place!.path, message: problem })
  }
  check(workflow.input, 'input', { source, path: ['input'] })
  for (const { step, path } of walkSteps(workflow)) {
    const { question, nestedInput } = getStepKind(step)
    check(question?.(step, path)?.asked.schema, 'output', getStepSource(step))
    check(nestedInput?.(step)?.schema, 'input', getStepSource(step))
  }
  return findings
}

function getSchemaProblem(schema: JsonSchema, direction: 'input' | 'output'): string | undefined {
  try {
    void compileSchema(schema, direction).json
    return undefined
  } catch (error) {
    if (!ToolError.is(error)) throw error
    return `the schema cannot be used: ${error.message}`
  }
}
