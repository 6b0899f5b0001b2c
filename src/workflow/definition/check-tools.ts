import { ToolError } from '../../contract/tool-error.ts'
import type { JsonSchema } from '../../contract/json.ts'
import { unknownName } from '../../contract/unknown-name.ts'
import type { Registry } from '../../registry/registry-type.ts'
import { checkStepInput, findingAt } from './check-step-input.ts'
import { locateFindings } from './finding.ts'
import type { Finding, WorkflowProblem } from './finding.ts'
import { toolOf } from './tools-of.ts'
import { walkSteps } from './walk-steps.ts'
import type { Workflow } from './workflow-type.ts'

type Known = Pick<Registry, 'list' | 'schema'>

/** What is wrong with the tools of a workflow: those that the registry does not have, and inputs that cannot fit. The first ones are told, all of them are counted. */
export async function checkTools(
  workflow: Workflow,
  registry: Known,
): Promise<{ readonly problems: readonly WorkflowProblem[]; readonly found: number }> {
  const schemas = new Map<string, Promise<JsonSchema | Fault>>()
  const schemaOf = (tool: string): Promise<JsonSchema | Fault> =>
    schemas.get(tool) ?? schemas.set(tool, askSchema(tool, registry)).get(tool)!
  const findings: Finding[] = []
  for (const walked of walkSteps(workflow)) {
    if (walked.step.type !== 'tool') continue
    const schema = await schemaOf(toolOf(walked.step))
    if (schema instanceof Fault)
      findings.push(
        findingAt(walked, ['tool' in walked.step ? 'tool' : 'command'], schema.message, schema.fix),
      )
    else if ('tool' in walked.step)
      findings.push(
        ...(await checkStepInput(walked, walked.step.input ?? {}, schema, walked.step.tool)),
      )
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
    if (error.code !== 'NOT_FOUND')
      return new Fault(
        `the tool '${tool}' cannot be used: ${error.message}`,
        error.suggestion?.fix ?? 'See toolable list --problems',
      )
    const { message, meant } = unknownName(
      'tool',
      tool,
      registry.list().flatMap(({ id, name }) => [name, id]),
    )
    return new Fault(
      message,
      meant === undefined ? 'toolable list tells which tools there are' : `Write ${meant}`,
    )
  }
}
