import type { ContentBlock } from '../contract/content.ts'
import type { Artifact, Outcome, OutcomeMeta } from '../contract/outcome.ts'
import { ToolError } from '../contract/tool-error.ts'
import { isReply } from '../define/results.ts'
import type { Reply } from '../define/results.ts'
import type { ToolDefinition } from '../define/tool-type.ts'
import { checkContent } from './check-content.ts'
import { host } from './host.ts'
import { toJsonValue } from './json-value.ts'
import { ownText, withoutRender } from './own-text.ts'
import type { OwnText } from './own-text.ts'
import { readFailures, summariseFailures } from './partial.ts'
import type { Failures } from './partial.ts'

/** A handler's answer, checked: the value for callers in this process, and its JSON form for every other. */
export type Answer = {
  readonly value: unknown
  readonly json: unknown
  readonly warnings: readonly string[]
  /** What the tool says to the model about it. */
  readonly said: {
    readonly message?: string
    readonly hidden?: true
    readonly content?: readonly ContentBlock[]
  }
  readonly failures: Failures | undefined
  /** Facts that a tool in another process gave. */
  readonly facts?: Pick<OutcomeMeta, 'truncated' | 'next_cursor' | 'run_id'>
}

/** Unwraps what a handler returned and checks it against the output schema, at once where there is nothing to wait for; throws INTERNAL when it does not fit. */
export function checkAnswer(
  definition: ToolDefinition,
  returned: unknown,
): Answer | Promise<Answer> {
  const reply = isReply(returned) ? returned : undefined
  const result = reply ? reply.result : returned
  const accepted =
    definition.source.output === undefined ? { value: result } : definition.acceptResult(result)
  return accepted
    ? readAnswer(definition, reply, accepted.value, result)
    : checkResult(definition, result).then((value) => readAnswer(definition, reply, value, result))
}

// The result as the output schema gives it.
async function checkResult(definition: ToolDefinition, result: unknown): Promise<unknown> {
  const checked = await (
    await definition.compiled()
  ).output?.check(result === undefined ? null : result)
  if (!checked) return result
  if (checked.ok) return checked.value
  const { issuesToError } = await import('../define/schema/issues.ts')
  const problem = issuesToError(checked.issues)
  throw new ToolError(
    'INTERNAL',
    `tool '${definition.name}' returned a result that its own output schema refuses: ${problem.message}`,
    {
      details: { issues: problem.details?.['issues'] },
      suggestion: {
        action: 'abort',
        fix: 'The author of the tool should mend the result or the schema',
      },
    },
  )
}

// `given` is what the handler returned: a schema may have made something else of it, without the functions.
function readAnswer(
  definition: ToolDefinition,
  reply: Reply | undefined,
  value: unknown,
  given: unknown,
): Answer {
  const { name, errors } = definition
  const own = ownText(given)
  if (own)
    return readOwn(own, readAnswer(definition, reply, withoutRender(value), undefined), value)
  const plain = plainAnswer(value)
  if (!reply) return plain
  const { warnings = [], summary: _summary, ...facts } = reply.foreign ?? {}
  return {
    ...plain,
    warnings: [...plain.warnings, ...warnings],
    said: readSaid(name, reply),
    failures: readFailures(reply, errors),
    facts,
  }
}

// The text stands in the place of the value, which is then for programs only.
function readOwn(own: OwnText, answer: Answer, value: unknown): Answer {
  if ('warning' in own) return { ...answer, value, warnings: [...answer.warnings, own.warning] }
  if (answer.said.hidden) return { ...answer, value }
  const content = [
    ...(own.text === '' ? [] : [{ type: 'text', text: own.text } as const]),
    ...(answer.said.content ?? []),
  ]
  return {
    ...answer,
    value,
    said: { ...answer.said, hidden: true, ...(content.length > 0 && { content }) },
  }
}

const NOTHING: Answer['said'] = {}

/** An answer with nothing to say about it. */
export function plainAnswer(value: unknown): Answer {
  const { value: json, warnings } = toJsonValue(value)
  return { value, json, warnings, said: NOTHING, failures: undefined }
}

function readSaid(tool: string, { message, hidden, content }: Reply): Answer['said'] {
  const blocks = content === undefined ? [] : checkContent(`tool '${tool}'`, content)
  return {
    ...(message !== undefined && { message: String(message) }),
    ...(hidden && { hidden: true }),
    ...(blocks.length > 0 && { content: blocks }),
  }
}

/** True unless everything that the tool tried failed. */
export function succeeded({ failures }: Answer): boolean {
  return !failures || failures.summary.succeeded > 0
}

/** The outcome of a call that came to an answer. */
export function toOutcome(answer: Answer, meta: OutcomeMeta): Outcome {
  const { json, said, failures } = answer
  if (!failures)
    return said === NOTHING
      ? { ok: true, status: 'success', result: json, meta }
      : { ok: true, status: 'success', result: json, ...said, meta }
  const { errors, summary } = failures
  if (succeeded(answer))
    return { ok: true, status: 'partial', result: json, ...said, errors, summary, meta }
  return { ok: false, status: 'error', error: summariseFailures(errors), errors, summary, meta }
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
  readonly truncated?: true | undefined
  readonly next_cursor?: string | undefined
  readonly run_id?: string | undefined
}): OutcomeMeta {
  // Not by spreading, which would cost more than all the rest of the outcome. The order of the keys is part of the wire form.
  const meta: { -readonly [Fact in keyof OutcomeMeta]: OutcomeMeta[Fact] } =
    facts.version === undefined
      ? { tool: facts.tool, duration_ms: Math.round(host.clock() - facts.startedAt) }
      : {
          tool: facts.tool,
          version: facts.version,
          duration_ms: Math.round(host.clock() - facts.startedAt),
        }
  if (facts.dryRun) meta.dry_run = true
  if (facts.warnings.length > 0) meta.warnings = facts.warnings
  if (facts.truncated) meta.truncated = true
  if (facts.next_cursor !== undefined) meta.next_cursor = facts.next_cursor
  if (facts.caller !== undefined) meta.caller = facts.caller
  if (facts.run_id !== undefined) meta.run_id = facts.run_id
  if (facts.artifacts.length > 0) meta.artifacts = facts.artifacts
  return meta
}
