/**
 * Parses a definition into its checked long form.
 *
 * Parsing collects every problem instead of stopping at the first one. definition/parse-steps.ts
 * parses the steps, definition/references.ts
 * checks what expressions refer to, definition/checks.ts checks inputs against the schemas of tools
 * and nested workflows.
 */

import { describeUnknownName } from '../../util/text.ts'
import type { JsonSchema } from '../../util/values.ts'
import { compact, isObject } from '../../util/values.ts'
import type { RawStep } from '../steps/kind.ts'
import { getSteps } from '../steps/kind.ts'
import type { Workflow } from './model.ts'
import type { ParseStepsContext } from './parse-steps.ts'
import { describeBadName, parseSteps, StepNamer } from './parse-steps.ts'
import type { DefinitionFinding, DefinitionSource, StepDraft } from './reader.ts'
import {
  createProblemsError,
  DefinitionReader,
  describeValue,
  locateFindings,
  MAX_PROBLEMS,
  toProblem,
} from './reader.ts'
import { checkReferences } from './references.ts'
import { NAME_PATTERN, WORKFLOW_KEYS } from './schema.ts'

const MAX_STEPS = 5000
const MAX_NESTED_WORKFLOWS = 10
const TEXT_KEYS = ['version', 'summary', 'description']
const MAX_SUMMARY_LENGTH = 200

/** A definition that has not been read yet. */
export type RawWorkflow = {
  readonly value: unknown
  readonly source: DefinitionSource
  /** Its name unless it has one. */ readonly name: string
}

/** What a workflow and all workflows inside it share while they are parsed. */
export type ParseSession = {
  readonly findings: DefinitionFinding[]
  /** The definition in a file; a text says why there is none. */
  nested(reference: string, from: DefinitionSource): RawWorkflow | string
  /** Steps so far, including those of nested workflows. */
  readonly counted: { steps: number }
}

/** Parses a definition and everything in it. Returns undefined, with findings, if it is none. */
export function parseWorkflow(
  { value, source, name }: RawWorkflow,
  session: ParseSession,
  chain: readonly string[] = [],
): Workflow | undefined {
  const reader = new DefinitionReader(source, session.findings)
  if (!isObject(value))
    return reader.addProblem(
      `a workflow must be an object with 'steps'; got ${describeValue(value)}`,
      'Write steps: and a list below it',
    )
  reader.checkKeys(value, Object.keys(WORKFLOW_KEYS), 'a workflow')
  checkTexts(value, reader)
  const context: ParseStepsContext = {
    names: new StepNamer(value),
    depth: 0,
    count() {
      session.counted.steps += 1
      if (session.counted.steps === MAX_STEPS + 1)
        reader.addProblem(
          `there are more than ${MAX_STEPS} steps, those of other workflows counted`,
        )
      return session.counted.steps <= MAX_STEPS
    },
    workflow: (nested, at) =>
      parseNestedWorkflow(nested, at, session, [...chain, source.file ?? '']),
  }
  const parseList = (key: string): readonly StepDraft[] =>
    value[key] === undefined ? [] : parseSteps(context, value[key], reader.at(key), 'steps')
  const { finally: givenLast, timeout: givenTimeout } = value
  if (value['steps'] === undefined) reader.addProblem("a workflow needs 'steps'")
  const steps = parseList('steps')
  // Here an empty list is fine.
  const last = Array.isArray(givenLast) && givenLast.length === 0 ? [] : parseList('finally')
  const input = parseInputSchema(value['input'], reader.at('input'))
  const output = reader.field(value, 'output')
  const timeout =
    givenTimeout === undefined ? undefined : reader.at('timeout').duration(givenTimeout)
  checkReferences(reader, { steps, finally: last, output: reader.uses, input })
  return {
    name,
    ...Object.fromEntries(
      ['name', ...TEXT_KEYS]
        .filter((key) => value[key] !== undefined)
        .map((key) => [key, value[key]]),
    ),
    ...compact({ input }),
    steps: getSteps(steps),
    ...compact({ finally: last.length > 0 ? getSteps(last) : undefined, output, timeout }),
  }
}

function checkTexts(value: RawStep, reader: DefinitionReader): void {
  const { name, summary } = value
  for (const key of TEXT_KEYS)
    if (value[key] !== undefined) reader.at(key).matchesShape(WORKFLOW_KEYS[key]!, value[key])
  if (typeof summary === 'string' && summary.length > MAX_SUMMARY_LENGTH)
    reader.addFieldProblem(
      'summary',
      `'summary' has ${summary.length} characters; it may have ${MAX_SUMMARY_LENGTH}`,
      'Put the rest into description',
    )
  if (name !== undefined && (typeof name !== 'string' || !NAME_PATTERN.test(name)))
    reader.addFieldProblem('name', describeBadName(name))
}

function parseNestedWorkflow(
  value: unknown,
  reader: DefinitionReader,
  session: ParseSession,
  chain: readonly string[],
): Workflow | undefined {
  const { source, path } = reader
  if (chain.length > MAX_NESTED_WORKFLOWS)
    return reader.addProblem(`workflows are nested more than ${MAX_NESTED_WORKFLOWS} levels deep`)
  if (typeof value !== 'string') {
    // A workflow inside another is located by the keys of both.
    const within = [...(source.within ?? []), ...path]
    return parseWorkflow({ value, source: { ...source, within }, name: 'workflow' }, session, chain)
  }
  const raw = session.nested(value, source)
  if (typeof raw === 'string') return reader.addProblem(raw)
  const { file } = raw.source
  const from = chain.indexOf(file ?? '')
  if (file !== undefined && from !== -1)
    return reader.addProblem(
      `workflows contain each other: ${[...new Set(chain.slice(from)), file].join(' → ')}`,
      'Take one of them out',
    )
  return parseWorkflow(raw, session, chain)
}

/**
 * Makes a workflow of data: every short form written out, everything checked that can be checked
 * without tools. Throws CONFIG with all problems. A normalized workflow stays as it is.
 */
export function normalizeWorkflow(value: unknown, name = 'workflow'): Workflow {
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

/** Like `normalizeWorkflow`; checks the inputs of nested workflows and the defaults of questions too. */
export async function normalizeAndCheckWorkflow(value: unknown): Promise<Workflow> {
  const workflow = normalizeWorkflow(value)
  const { checkNestedInputs, findInvalidDefaults } = await import('./checks.ts')
  const findings = [
    ...(await checkNestedInputs(workflow)),
    ...(await findInvalidDefaults(workflow)),
  ]
  if (findings.length > 0)
    throw createProblemsError(await locateFindings(findings), findings.length)
  return workflow
}

const FIELD_TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'any']

/** The JSON Schema of a workflow's input: as it is written, or made of its fields in short. */
function parseInputSchema(value: unknown, reader: DefinitionReader): JsonSchema | undefined {
  if (value === undefined) return undefined
  if (!isObject(value))
    return reader.addProblem(
      `'input' must be a JSON Schema, or the fields in short; got ${describeValue(value)}`,
      'Write input: {root: string, limit: integer?}',
    )
  const schema = reader.plain(value) as JsonSchema
  return isJsonSchema(value) ? schema : toObjectSchema(schema, reader)
}

// A field in short is a text or an object with its type; these keys of a schema hold other things.
function isJsonSchema({ type, properties, ...rest }: JsonSchema): boolean {
  return (
    type === 'object' ||
    (isObject(properties) && properties['type'] === undefined) ||
    ['$schema', '$ref'].some((key) => typeof rest[key] === 'string') ||
    ['allOf', 'anyOf', 'oneOf'].some((key) => Array.isArray(rest[key]))
  )
}

function toObjectSchema(fields: JsonSchema, reader: DefinitionReader): JsonSchema {
  const parsed = Object.entries(fields).map(
    ([name, field]) => [name, parseInputField(field, reader.at(name))] as const,
  )
  const required = parsed.filter(([, field]) => field.required).map(([name]) => name)
  return compact({
    type: 'object',
    properties: Object.fromEntries(parsed.map(([name, { schema }]) => [name, schema])),
    required: required.length > 0 ? required : undefined,
    additionalProperties: false,
  })
}

type InputField = { readonly schema: JsonSchema; readonly required: boolean }

function parseInputField(field: unknown, reader: DefinitionReader): InputField {
  if (typeof field === 'string') return parseShortType(field, reader)
  if (!isObject(field)) {
    reader.addProblem(
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

function parseShortType(text: string, reader: DefinitionReader): InputField {
  const [, type = text, list = '', optional = ''] = /^(\w+)(\[\])?(\?)?$/.exec(text.trim()) ?? []
  if (!FIELD_TYPES.includes(type))
    reader.addProblem(
      describeUnknownName('type', text, FIELD_TYPES).message,
      `The types are ${FIELD_TYPES.join(', ')}; string[] is a list of texts, and string? may be left out`,
    )
  const one = type === 'any' ? {} : { type }
  return { schema: list === '' ? one : { type: 'array', items: one }, required: optional === '' }
}
