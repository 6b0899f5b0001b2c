import type { CallOptions } from '../../call/options.ts'
import type { Entry } from '../../registry/entry.ts'
import type { PerformTool, Settled } from '../engines/engine-type.ts'
import { workflowOf } from '../source/workflow-of.ts'
import { reasonOf, settleOutcome } from './step-error.ts'
import type { StepHost } from './step-host.ts'

type Given = Parameters<PerformTool>[0]

/** Performs what needs nothing but a call of this process, and leaves everything else to another. Nobody looks on, and nobody else has the same step at work: that is for executions that have no folder. */
export function callFunctions(
  { registry, cwd, env }: Pick<StepHost, 'registry' | 'cwd' | 'env'>,
  others: PerformTool,
): PerformTool {
  // Found once for each name, unless other tools have come since.
  let entries: unknown
  let known = new Map<string, string | undefined>()
  const idOf = (tool: string): string | undefined => {
    const now = 'entries' in registry ? registry.entries : undefined
    if (now !== entries || now === undefined) {
      entries = now
      known = new Map()
    }
    if (!known.has(tool)) known.set(tool, plainId(registry.find(tool) as Entry | undefined))
    return known.get(tool)
  }
  return (call, signal) => {
    const id =
      'input' in call.given && !call.permissions && !signal.aborted ? idOf(call.tool) : undefined
    if (id === undefined) return others(call, signal)
    return registry
      .call(
        id,
        (call.given as Extract<Given['given'], { readonly input: unknown }>).input,
        optionsOf(call, { cwd, env, signal }),
      )
      .then((outcome): Settled => {
        const settled = settleOutcome(outcome)
        return settled.ok || !signal.aborted ? settled : { ok: false, error: reasonOf(signal) }
      })
  }
}

function plainId(entry: Entry | undefined): string | undefined {
  return entry && !entry.found.program && !workflowOf(entry.found) ? entry.id : undefined
}

function optionsOf({ timeout }: Given, options: CallOptions): CallOptions {
  return timeout === undefined ? options : { ...options, timeout }
}
