import type { Context } from '../../contract/context.ts'
import { isObject } from '../../contract/json.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { toolErrorFrom } from '../../contract/tool-error.ts'
import { ok, partial, withForeign } from '../../define/results.ts'
import type { ReplyOptions } from '../../define/results.ts'
import { tellArtifact } from './answer/tell-artifact.ts'

/** Gives the outcome of a tool in another process to the pipeline: the reply, with all that the envelope said, or the ToolError that it throws. */
export function giveOutcome(outcome: Outcome, ctx: Context): unknown {
  const { artifacts = [], warnings, truncated, next_cursor } = outcome.meta
  for (const artifact of artifacts) tellArtifact(artifact, ctx)
  if (!outcome.ok) {
    for (const warning of warnings ?? []) ctx.log(warning, 'warn')
    throw toolErrorFrom(outcome.error)
  }
  if (ctx.dryRun) tellPlan(outcome.result, ctx)
  const { result, message, hidden, content } = outcome
  const said: ReplyOptions = {
    ...(message !== undefined && { message }),
    ...(hidden && { hidden }),
    ...(content && { content }),
  }
  const facts = {
    ...(warnings && { warnings }),
    ...(truncated && { truncated }),
    ...(next_cursor !== undefined && { next_cursor }),
  }
  if (outcome.status === 'success') return withForeign(ok(result, said), facts)
  return withForeign(partial(result, outcome.errors, said), { ...facts, summary: outcome.summary })
}

// Of a dry run the pipeline tells the plan, which the child has made.
function tellPlan(result: unknown, ctx: Context): void {
  const plan = isObject(result) && Array.isArray(result['plan']) ? result['plan'] : []
  for (const step of plan.filter(isObject))
    ctx.plan(String(step['action']), String(step['target']), step['details'])
}
