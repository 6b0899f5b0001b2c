import { problemsError } from '../../workflow/definition/finding.ts'
import { hashWorkflow } from '../../workflow/definition/hash-workflow.ts'
import { loadWorkflow } from '../../workflow/definition/load-workflow.ts'
import { toolsOf } from '../../workflow/definition/tools-of.ts'
import { walkSteps } from '../../workflow/definition/walk-steps.ts'
import type { RenderResult } from '../../surfaces/cli/output/format-options.ts'
import { cleanLine } from '../../surfaces/cli/output/text/clean.ts'
import type { Surroundings } from '../config/load.ts'
import { withRegistry } from '../with-registry.ts'
import { findWorkflow } from './find-workflow.ts'

type Where = { readonly cwd: string; readonly env: { readonly [name: string]: string | undefined } }

/** A workflow that can be run, as far as can be known. */
export type Validated = {
  readonly file: string
  readonly name: string
  readonly hash: string
  readonly steps: number
  readonly tools: readonly string[]
  /** Whether the tools were looked for. */ readonly tools_checked: boolean
}

/** Checks a workflow; throws CONFIG with every problem. */
export async function validateWorkflow(
  {
    workflow: given,
    tools,
    ...surroundings
  }: Surroundings & { readonly workflow: string; readonly tools: boolean },
  where: Where,
): Promise<Validated> {
  const file = await findWorkflow(given, { cwd: where.cwd, config: surroundings.config })
  const workflow = await loadWorkflow(file, where)
  if (tools) {
    const { checkTools } = await import('../../workflow/definition/check-tools.ts')
    const { problems, found } = await withRegistry(surroundings, where, (registry) =>
      checkTools(workflow, registry),
    )
    if (found > 0) throw problemsError(problems, found)
  }
  return {
    file,
    name: workflow.name,
    hash: hashWorkflow(workflow),
    steps: [...walkSteps(workflow)].length,
    tools: toolsOf(workflow),
    tools_checked: tools,
  }
}

/** For a person: that it is good, and what it is made of. */
export const renderValidated: RenderResult = (result) => {
  const { file, name, steps, tools, tools_checked: checked } = result as Validated
  const named =
    tools.length === 0
      ? 'no tools'
      : `${tools.length === 1 ? 'one tool' : `${tools.length} tools`} (${tools.join(', ')})${checked ? '' : ', not looked for'}`
  return `ok: ${cleanLine(name)} in ${cleanLine(file)}: ${steps === 1 ? 'one step' : `${steps} steps`}, ${cleanLine(named)}\n`
}
