/**
 * Parses a definition into its checked long form.
 *
 * Parsing collects every problem instead of stopping at the first one. definition/parse-steps.ts
 * parses the steps, definition/references.ts
 * checks what expressions refer to, definition/checks.ts checks inputs against the schemas of tools
 * and nested workflows.
 */

import type { KeyPath } from '../../protocol/documents.ts'
import { describeUnknownName } from '../../util/text.ts'
import { compact, isObject } from '../../util/values.ts'
import type { JsonSchema } from '../../util/values.ts'
import { getSteps } from '../steps/each.ts'
import type { Workflow } from './model.ts'
import { parseSteps, StepNamer } from './parse-steps.ts'
import type { ParseStepsContext } from './parse-steps.ts'
import {
  createProblemsError,
  DefinitionReader,
  describeValue,
  locateFindings,
  MAX_PROBLEMS,
  toProblem,
} from './reader.ts'
import type { DefinitionFinding, DefinitionSource } from './reader.ts'
import { checkReferences } from './references.ts'
import { NAME_PATTERN, WORKFLOW_KEYS } from './schema.ts'
import { walkSteps } from './walk.ts'

const MAX_STEPS = 5000
const MAX_NESTED_WORKFLOWS = 10
const TEXT_KEYS = ['version', 'summary', 'description']
const MAX_SUMMARY_LENGTH = 200

/** A definition that has not been read yet. */
export type RawWorkflow = {
  readonly value: unknown
  readonly source: DefinitionSource
  /** Its name where it says none. */ readonly name: string
}

/** What is the same for a workflow and all workflows in it. */
export type ParseSession = {
  readonly findings: DefinitionFinding[]
  /** The definition that a file holds; a text says why there is none. */
  nested(reference: string, from: DefinitionSource): RawWorkflow | string
  /** Steps so far, those of other workflows among them. */
  readonly counted: { steps: number }
}

/**
 * Reads a definition and everything in it; what is wrong goes to the findings. Undefined, and
 * findings, where no workflow can be made of it.
 */
export function parseWorkflow(
  { value, source, name }: RawWorkflow,
  drafting: ParseSession,
  chain: readonly string[] = [],
): Workflow | undefined {
  const reader = new DefinitionReader(source, drafting.findings)
  if (!isObject(value))
    return reader.addProblem(
      [],
      `a workflow must be an object with 'steps'; got ${describeValue(value)}`,
      'Write steps: and a list below it',
    )
  reader.checkKeys(value, Object.keys(WORKFLOW_KEYS), [], 'a workflow')
  for (const key of TEXT_KEYS)
    if (value[key] !== undefined) reader.matchesShape(WORKFLOW_KEYS[key]!, value[key], [key])
  if (typeof value['summary'] === 'string' && value['summary'].length > MAX_SUMMARY_LENGTH)
    reader.addProblem(
      ['summary'],
      `'summary' has ${value['summary'].length} characters; it may have ${MAX_SUMMARY_LENGTH}`,
      'Put the rest into description',
    )
  if (
    value['name'] !== undefined &&
    (typeof value['name'] !== 'string' || !NAME_PATTERN.test(value['name']))
  )
    reader.addProblem(
      ['name'],
      `a name has 1 to 64 letters, digits, _ and -, and is not 'finally'; got ${describeValue(value['name'])}`,
    )
  const context: ParseStepsContext = {
    reader,
    names: new StepNamer(value),
    depth: 0,
    count: () => {
      drafting.counted.steps += 1
      if (drafting.counted.steps === MAX_STEPS + 1)
        reader.addProblem(
          [],
          `there are more than ${MAX_STEPS} steps, those of other workflows counted`,
        )
      return drafting.counted.steps <= MAX_STEPS
    },
    workflow: (nested, path) =>
      parseNestedWorkflow(reader, drafting, nested, path, [...chain, source.file ?? '']),
  }
  if (value['steps'] === undefined) reader.addProblem([], "a workflow needs 'steps'")
  const steps =
    value['steps'] === undefined ? [] : parseSteps(context, value['steps'], ['steps'], 'steps')
  const last =
    value['finally'] === undefined
      ? []
      : Array.isArray(value['finally']) && value['finally'].length === 0
        ? []
        : parseSteps(context, value['finally'], ['finally'], 'steps')
  const input =
    value['input'] === undefined ? undefined : parseInputSchema(reader, value['input'], ['input'])
  const output =
    value['output'] === undefined ? undefined : reader.value(value['output'], ['output'])
  const timeout =
    value['timeout'] === undefined ? undefined : reader.duration(value['timeout'], ['timeout'])
  checkReferences(reader, { steps, finally: last, output: output?.uses ?? [], input })
  return {
    name: typeof value['name'] === 'string' ? value['name'] : name,
    ...Object.fromEntries(
      TEXT_KEYS.filter((key) => value[key] !== undefined).map((key) => [key, value[key]]),
    ),
    ...compact({ input }),
    steps: getSteps(steps),
    ...compact({
      finally: last.length > 0 ? getSteps(last) : undefined,
      output: output ? output.value : undefined,
      timeout,
    }),
  }
}

function parseNestedWorkflow(
  reader: DefinitionReader,
  drafting: ParseSession,
  value: unknown,
  path: KeyPath,
  chain: readonly string[],
): Workflow | undefined {
  if (chain.length > MAX_NESTED_WORKFLOWS)
    return reader.addProblem(
      path,
      `workflows are nested more than ${MAX_NESTED_WORKFLOWS} levels deep`,
    )
  if (typeof value !== 'string')
    return parseWorkflow(
      { value, source: getNestedSource(reader.source, path), name: 'workflow' },
      drafting,
      chain,
    )
  const raw = drafting.nested(value, reader.source)
  if (typeof raw === 'string') return reader.addProblem(path, raw)
  const from = chain.indexOf(raw.source.file ?? '')
  if (raw.source.file !== undefined && from !== -1)
    return reader.addProblem(
      path,
      `workflows contain each other: ${[...new Set(chain.slice(from)), raw.source.file].join(' → ')}`,
      'Take one of them out',
    )
  return parseWorkflow(raw, drafting, chain)
}

// A workflow that stands in another is found by the keys of both.
function getNestedSource(source: DefinitionSource, path: KeyPath): DefinitionSource {
  return { ...source, within: [...(source.within ?? []), ...path] }
}

/** What a definition made in this process may leave open. */
type NormalizeWorkflowOptions = {
  /** Its name where it says none; default `workflow`. */ readonly name?: string
}

/**
 * Makes a workflow of data: every short form written out, everything checked that can be checked
 * without tools. Throws CONFIG with all problems. What it gives goes through unchanged.
 */
export function normalizeWorkflow(
  value: unknown,
  { name = 'workflow' }: NormalizeWorkflowOptions = {},
): Workflow {
  const findings: DefinitionFinding[] = []
  const workflow = parseWorkflow(
    { value, source: {}, name },
    {
      findings,
      counted: { steps: 0 },
      nested: () =>
        'a file can be named only in a file: loadWorkflow reads it; give the workflow itself here',
    },
  )
  if (!workflow || findings.length > 0)
    throw createProblemsError(findings.slice(0, MAX_PROBLEMS).map(toProblem), findings.length)
  return workflow
}

/** Like `normaliseWorkflow`, with the inputs of the workflows inside it checked too. */
export async function normalizeAndCheckWorkflow(value: unknown): Promise<Workflow> {
  const workflow = normalizeWorkflow(value)
  const { findInvalidDefaults } = await import('./checks.ts')
  const findings = [
    ...(await checkNestedInputs(workflow)),
    ...(await findInvalidDefaults(workflow)),
  ]
  if (findings.length > 0)
    throw createProblemsError(await locateFindings(findings), findings.length)
  return workflow
}

const FIELD_TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'any']
const SCHEMA_KEYS = ['properties', '$ref', 'allOf', 'anyOf', 'oneOf', '$schema']

/** The JSON Schema of a workflow's input: as it stands there, or made of its fields in short. */
function parseInputSchema(
  reader: DefinitionReader,
  value: unknown,
  path: KeyPath,
): JsonSchema | undefined {
  if (!isObject(value))
    return reader.addProblem(
      path,
      `'input' must be a JSON Schema, or the fields in short; got ${describeValue(value)}`,
      'Write input: {root: string, limit: integer?}',
    )
  const schema = reader.value(value, path).value as JsonSchema
  return isJsonSchema(value) ? schema : toObjectSchema(reader, schema, path)
}

// A field in short is a text or an object with its type; these keys of a schema hold other things.
function isJsonSchema(value: { readonly [key: string]: unknown }): boolean {
  return (
    value['type'] === 'object' ||
    SCHEMA_KEYS.some((key) =>
      key === '$schema' || key === '$ref'
        ? typeof value[key] === 'string'
        : key === 'properties'
          ? isObject(value[key]) && value[key]['type'] === undefined
          : Array.isArray(value[key]),
    )
  )
}

function toObjectSchema(reader: DefinitionReader, fields: JsonSchema, path: KeyPath): JsonSchema {
  const read = Object.entries(fields).map(([name, field]) => ({
    name,
    ...parseInputField(reader, field, [...path, name]),
  }))
  const required = read.filter((field) => field.required).map(({ name }) => name)
  return compact({
    type: 'object',
    properties: Object.fromEntries(read.map(({ name, schema }) => [name, schema])),
    required: required.length > 0 ? required : undefined,
    additionalProperties: false,
  })
}

function parseInputField(
  reader: DefinitionReader,
  field: unknown,
  path: KeyPath,
): { readonly schema: JsonSchema; readonly required: boolean } {
  if (typeof field === 'string') return parseShortType(reader, field, path)
  if (!isObject(field)) {
    reader.addProblem(
      path,
      `a field of the input must be a type or a schema; got ${describeValue(field)}`,
      `The types are ${FIELD_TYPES.join(', ')}`,
    )
    return { schema: {}, required: false }
  }
  const { required, ...schema } = field
  // In a schema of an object `required` is a list, and stays.
  if (required !== undefined && typeof required !== 'boolean')
    return { schema: field, required: true }
  return { schema, required: required ?? !Object.hasOwn(schema, 'default') }
}

function parseShortType(
  reader: DefinitionReader,
  text: string,
  path: KeyPath,
): { readonly schema: JsonSchema; readonly required: boolean } {
  const [, type = text, list = '', optional = ''] = /^(\w+)(\[\])?(\?)?$/.exec(text.trim()) ?? []
  if (!FIELD_TYPES.includes(type))
    reader.addProblem(
      path,
      describeUnknownName('type', text, FIELD_TYPES).message,
      `The types are ${FIELD_TYPES.join(', ')}; string[] is a list of texts, and string? may be left out`,
    )
  const one = type === 'any' ? {} : { type }
  return { schema: list === '' ? one : { type: 'array', items: one }, required: optional === '' }
}

/**
 * The inputs that cannot fit the workflows inside a workflow, so that nobody finds out in the
 * middle of it.
 */
export async function checkNestedInputs(workflow: Workflow): Promise<readonly DefinitionFinding[]> {
  const findings: DefinitionFinding[] = []
  for (const walked of walkSteps(workflow)) {
    const { step } = walked
    if (step.type !== 'workflow' || step.workflow.input === undefined) continue
    const { checkStepInput } = await import('./checks.ts')
    findings.push(
      ...(await checkStepInput(
        walked,
        step.input === undefined ? {} : step.input,
        step.workflow.input,
        step.workflow.name,
      )),
    )
  }
  return findings
}
