import type { Artifact, ErrorObject, Outcome, OutcomeMeta } from '../contract/outcome.ts'
import { ToolError } from '../contract/tool-error.ts'
import { isReply } from '../define/results.ts'
import type { Reply } from '../define/results.ts'
import type { ToolDefinition } from '../define/tool-type.ts'
import { toJsonValue } from './json-value.ts'
import { host } from './host.ts'

/** A handler's answer, checked: the value for callers in this process, and its JSON form for every other. */
export type Answer = {
  readonly value: unknown
  readonly json: unknown
  readonly warnings: readonly string[]
  readonly reply: Reply | undefined
}

/** Unwraps what a handler returned and checks it against the output schema; throws INTERNAL when it does not fit. */
export async function checkAnswer(definition: ToolDefinition, returned: unknown): Promise<Answer> {
  const reply = isReply(returned) ? returned : undefined
  const result = reply ? reply.result : returned
  const compiling = definition.source.output === undefined ? undefined : definition.compiled()
  const compiled = compiling instanceof Promise ? await compiling : compiling
  const pending = compiled?.output?.check(result === undefined ? null : result)
  const checked = pending instanceof Promise ? await pending : pending
  if (checked && !checked.ok) {
    const { issuesToError } = await import('../define/schema/issues.ts')
    const problem = issuesToError(checked.issues)
    throw new ToolError('INTERNAL', `tool '${definition.name}' returned a result that its own output schema refuses: ${problem.message}`, {
      details: { issues: problem.details?.['issues'] },
      suggestion: { action: 'abort', fix: 'The author of the tool should mend the result or the schema' },
    })
  }
  const value = checked ? checked.value : result
  const { value: json, warnings } = toJsonValue(value)
  return { value, json, warnings, reply }
}

/** The outcome of a call that came to an answer. */
export function toOutcome({ json, reply }: Pick<Answer, 'json' | 'reply'>, meta: OutcomeMeta): Outcome {
  const said = { ...(reply?.message !== undefined && { message: reply.message }), ...(reply?.hidden && { hidden: true as const }) }
  const errors = reply?.errors ?? []
  const summary = reply?.summary
  if (errors.length === 0 || !summary) return { ok: true, status: 'success', result: json, ...said, meta }
  if (summary.succeeded > 0) return { ok: true, status: 'partial', result: json, ...said, errors, summary, meta }
  return { ok: false, status: 'error', error: allFailed(errors), errors, summary, meta }
}

/** Facts about a call, absent ones left out. */
export function buildMeta(facts: {
  readonly tool: string
  readonly version: string | undefined
  readonly startedAt: number
  readonly dryRun: boolean
  readonly warnings: readonly string[]
  readonly caller: string | undefined
  readonly artifacts: readonly Artifact[]
}): OutcomeMeta {
  return {
    tool: facts.tool,
    ...(facts.version !== undefined && { version: facts.version }),
    duration_ms: Math.round(host.clock() - facts.startedAt),
    ...(facts.dryRun && { dry_run: true as const }),
    ...(facts.warnings.length > 0 && { warnings: facts.warnings }),
    ...(facts.caller !== undefined && { caller: facts.caller }),
    ...(facts.artifacts.length > 0 && { artifacts: facts.artifacts }),
  }
}

function allFailed(errors: readonly ErrorObject[]): ErrorObject {
  const first = errors[0]!
  return errors.length === 1 ? first : { ...first, message: `all ${errors.length} items failed; the first: ${first.message}` }
}
