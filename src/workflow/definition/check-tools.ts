import { closest } from '../../contract/did-you-mean.ts'
import { shorten } from '../../contract/shorten.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { JsonObject, JsonSchema } from '../../contract/json.ts'
import { unknownName } from '../../contract/unknown-name.ts'
import type { Registry } from '../../registry/registry-type.ts'
import { OPEN } from '../expressions/parse-template.ts'
import { locateFindings } from './finding.ts'
import type { Finding, WorkflowProblem } from './finding.ts'
import { findUnknownField } from './input-fields.ts'
import { sourceOfStep } from './source-of-step.ts'
import type { StepSource } from './source-of-step.ts'
import { toolOf } from './tools-of.ts'
import { walkSteps } from './walk-steps.ts'
import type { Walked } from './walk-steps.ts'
import type { ToolStep, Workflow } from './workflow-type.ts'

type Known = Pick<Registry, 'list' | 'schema'>

/** What is wrong with the tools of a workflow: those that the registry does not have, and inputs that cannot fit. The first ones are told, all of them are counted. */
export async function checkTools(workflow: Workflow, registry: Known): Promise<{ readonly problems: readonly WorkflowProblem[]; readonly found: number }> {
  const schemas = new Map<string, Promise<JsonSchema | Fault>>()
  const schemaOf = (tool: string): Promise<JsonSchema | Fault> => schemas.get(tool) ?? schemas.set(tool, askSchema(tool, registry)).get(tool)!
  const findings: Finding[] = []
  for (const walked of walkSteps(workflow)) {
    if (walked.step.type !== 'tool') continue
    const schema = await schemaOf(toolOf(walked.step))
    if (schema instanceof Fault) findings.push(findingAt(walked, ['tool' in walked.step ? 'tool' : 'command'], schema.message, schema.fix))
    else findings.push(...(await checkInput(walked, walked.step, schema)))
  }
  return { problems: await locateFindings(findings), found: findings.length }
}

class Fault {
  readonly message: string
  readonly fix: string
  constructor(message: string, fix: string) {
    this.message = message
    this.fix = fix
  }
}

async function askSchema(tool: string, registry: Known): Promise<JsonSchema | Fault> {
  try {
    return (await registry.schema(tool)).input
  } catch (error) {
    if (!ToolError.is(error)) throw error
    if (error.code !== 'NOT_FOUND') return new Fault(`the tool '${tool}' cannot be used: ${error.message}`, error.suggestion?.fix ?? 'See toolable list --problems')
    const { message, meant } = unknownName('tool', tool, registry.list().flatMap(({ id, name }) => [name, id]))
    return new Fault(message, meant === undefined ? 'toolable list tells which tools there are' : `Write ${meant}`)
  }
}

async function checkInput(walked: Walked, step: ToolStep, schema: JsonSchema): Promise<readonly Finding[]> {
  if (!('tool' in step)) return []
  const { tool, input = {} } = step
  if (!JSON.stringify(input).includes(OPEN)) return checkWhole(walked, input, schema)
  const unknown = Object.keys(input).flatMap((field) => {
    const known = findUnknownField(schema, field)
    const meant = known && closest(field, known.filter((one) => !Object.hasOwn(input, one)))
    return known ? [findingAt(walked, ['input', field], `'${tool}' has no field '${shorten(field, 60)}'${meant === undefined ? '' : `; did you mean '${meant}'?`}`, `Its fields are ${known.join(', ')}`)] : []
  })
  const required = Array.isArray(schema['required']) ? (schema['required'] as readonly string[]) : []
  const missing = required.filter((field) => !Object.hasOwn(input, field)).map((field) => findingAt(walked, ['input'], `'${tool}' needs '${field}'`, `Add ${field}`))
  return [...unknown, ...missing]
}

// Nothing is put in later, so that all of it can be checked now.
async function checkWhole(walked: Walked, input: JsonObject, schema: JsonSchema): Promise<readonly Finding[]> {
  const [{ compileSchema }, { describeIssues }] = await Promise.all([import('../../define/schema/compile.ts'), import('../../define/schema/issues.ts')])
  const checked = await compileSchema(schema, 'input').check(input)
  return checked.ok ? [] : checked.issues.map((issue) => findingAt(walked, ['input', ...issue.path.map((key) => (typeof key === 'number' ? key : String(key)))], describeIssues([issue])))
}

function findingAt({ step, path }: Walked, keys: readonly (string | number)[], message: string, fix?: string): Finding {
  const place: StepSource = sourceOfStep(step) ?? { source: {}, path }
  return { source: place.source, path: place.bare ? place.path : [...place.path, ...keys], message, ...(fix !== undefined && { fix }) }
}

