import type { RenderResult } from '../../surfaces/cli/output/format-options.ts'
import { loadWorkflow } from '../../workflow/definition/load-workflow.ts'
import { mermaidOf } from '../../workflow/outline/mermaid-of.ts'
import { findWorkflow } from './find-workflow.ts'

type Graph = { readonly name: string; readonly mermaid: string }

/** The chart of a workflow; throws CONFIG for one that is wrong. */
export async function graphWorkflow(
  { workflow: given, config }: { readonly workflow: string; readonly config?: string },
  { cwd }: { readonly cwd: string },
): Promise<Graph> {
  const workflow = await loadWorkflow(await findWorkflow(given, { cwd, config }), { cwd })
  return { name: workflow.name, mermaid: mermaidOf(workflow) }
}

/** The chart alone. */
export const renderGraph: RenderResult = (result) => (result as Graph).mermaid
