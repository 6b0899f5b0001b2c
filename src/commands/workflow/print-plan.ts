import type { Workflow } from '../../workflow/definition/workflow-type.ts'
import type { BuiltinContext } from '../../surfaces/builtin/builtin.ts'
import { findCaller } from '../../surfaces/cli/caller.ts'
import { dialectContext } from '../../surfaces/cli/dialect-context.ts'
import { choosePresentation } from '../../surfaces/cli/mode.ts'
import { printOutcome } from '../../surfaces/cli/print-outcome.ts'
import { planWithInput, renderPlan } from './plan.ts'

/** Answers a dry run of a workflow: with what `workflow plan` says of it and its input. Gives the exit status. */
export async function printPlan(
  workflow: Workflow,
  input: object,
  { io, globals, set }: Pick<BuiltinContext, 'io' | 'globals' | 'set'>,
): Promise<number> {
  const began = io.now()
  const result = await planWithInput(workflow, input)
  const meta = {
    tool: `${set.name}.workflow_run`,
    version: set.version,
    duration_ms: io.now() - began,
    dry_run: true as const,
  }
  await printOutcome(
    { ok: true, status: 'success', result, meta },
    {
      io,
      presentation: choosePresentation(globals, io, findCaller(io.env)),
      context: dialectContext(io, 'workflow_run'),
      streamed: false,
      quiet: globals.quiet === true,
      renderResult: renderPlan,
    },
  )
  return 0
}
