/**
 * What a handler returned or threw, as an outcome: checked against the output schema, turned into
 * plain JSON, with warnings, partial failures and metadata.
 */

import type { PartialError, Reply } from '../define/results.ts'
import { REPLY_BRAND } from '../define/results.ts'
import type { SchemaCheckResult } from '../define/schema/source.ts'
import type { ToolDefinition } from '../define/tool-types.ts'
import type { DeclaredError } from '../protocol/errors.ts'
import type {
  Artifact,
  ContentBlock,
  ErrorObject,
  Outcome,
  OutcomeMeta,
  PartialSummary,
} from '../protocol/outcome.ts'
import { findContentProblem } from '../protocol/outcome.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { compact, isObject } from '../util/values.ts'
import { createAuthorError, toToolError } from './errors.ts'
import { host } from './host.ts'
import { toJsonValue } from './json-value.ts'

/**
 * A handler's answer, checked: the value for callers in this process, and its JSON form for every
 * other.
 */
export type HandlerResult = {
  readonly value: unknown
  readonly json: unknown
  readonly warnings: readonly string[]
  /** What the tool says to the model about it. */
  readonly presentation: {
    readonly message?: string
    readonly hidden?: true
    readonly content?: readonly ContentBlock[]
  }
  readonly failures: PartialFailures | undefined
  /** Facts that a tool in another process gave. */
  readonly metadata?: Pick<OutcomeMeta, 'truncated' | 'next_cursor' | 'run_id'>
}

/** True for what `ok` and `partial` return. */
export function isReply(value: unknown): value is Reply {
  return (
    typeof value === 'object' &&
    value !== null &&
    (value as { [REPLY_BRAND]?: unknown })[REPLY_BRAND] === true
  )
}

/**
 * Unwraps what a handler returned and checks it against the output schema, synchronously where
 * possible. Throws INTERNAL when it does not fit.
 */
export function checkHandlerResult(
  definition: ToolDefinition,
  returned: unknown,
): HandlerResult | Promise<HandlerResult> {
  const reply = isReply(returned) ? returned : undefined
  const result = reply ? reply.result : returned
  if (definition.source.output === undefined)
    return toHandlerResult(definition, reply, result, result)
  const checked = definition.checkResult(result)
  return checked instanceof Promise || !checked.ok
    ? readCheckedResult(definition, reply, checked, result)
    : toHandlerResult(definition, reply, checked.value, result)
}

async function readCheckedResult(
  definition: ToolDefinition,
  reply: Reply | undefined,
  checking: SchemaCheckResult | Promise<SchemaCheckResult>,
  result: unknown,
): Promise<HandlerResult> {
  const checked = await checking
  if (checked.ok) return toHandlerResult(definition, reply, checked.value, result)
  const { issuesToError } = await import('../define/schema/issues.ts')
  const problem = issuesToError(checked.issues)
  throw createAuthorError(
    `tool '${definition.name}' returned a result that its own output schema refuses: ${problem.message}`,
    'The author of the tool should mend the result or the schema',
    { issues: problem.details?.['issues'] },
  )
}

// `given` is what the handler returned: a schema may have made something else of it, without the
// functions.
function toHandlerResult(
  definition: ToolDefinition,
  reply: Reply | undefined,
  value: unknown,
  given: unknown,
): HandlerResult {
  const { name, errors } = definition
  const own = renderValue(given)
  if (own)
    return applyRenderedText(
      own,
      toHandlerResult(definition, reply, omitRender(value), undefined),
      value,
    )
  const plain = createPlainResult(value)
  if (!reply) return plain
  const { warnings = [], summary: _summary, ...facts } = reply.foreign ?? {}
  return {
    ...plain,
    warnings: [...plain.warnings, ...warnings],
    presentation: readPresentation(name, reply),
    failures: readPartialFailures(reply, errors),
    metadata: facts,
  }
}

// The text stands in the place of the value, which is then for programs only.
function applyRenderedText(
  own: RenderedText,
  answer: HandlerResult,
  value: unknown,
): HandlerResult {
  if ('warning' in own) return { ...answer, value, warnings: [...answer.warnings, own.warning] }
  if (answer.presentation.hidden) return { ...answer, value }
  const content = [
    ...(own.text === '' ? [] : [{ type: 'text', text: own.text } as const]),
    ...(answer.presentation.content ?? []),
  ]
  return {
    ...answer,
    value,
    presentation: {
      ...answer.presentation,
      hidden: true,
      ...compact({ content: content.length > 0 ? content : undefined }),
    },
  }
}

const NO_PRESENTATION: HandlerResult['presentation'] = {}

/** An answer with nothing to say about it. */
export function createPlainResult(value: unknown): HandlerResult {
  const { value: json, warnings } = toJsonValue(value)
  return { value, json, warnings, presentation: NO_PRESENTATION, failures: undefined }
}

function readPresentation(
  tool: string,
  { message, hidden, content }: Reply,
): HandlerResult['presentation'] {
  const blocks = content === undefined ? [] : validateContent(`tool '${tool}'`, content)
  return compact({
    message: message !== undefined ? String(message) : undefined,
    hidden: hidden ? true : undefined,
    content: blocks.length > 0 ? blocks : undefined,
  })
}

/** True unless everything that the tool tried failed. */
export function hasSucceeded({ failures }: HandlerResult): boolean {
  return !failures || failures.summary.succeeded > 0
}

/** The outcome of a call that came to an answer. */
export function toOutcome(answer: HandlerResult, meta: OutcomeMeta): Outcome {
  const { json, presentation: said, failures } = answer
  if (!failures)
    return said === NO_PRESENTATION
      ? { ok: true, status: 'success', result: json, meta }
      : { ok: true, status: 'success', result: json, ...said, meta }
  const { errors, summary } = failures
  if (hasSucceeded(answer))
    return { ok: true, status: 'partial', result: json, ...said, errors, summary, meta }
  return { ok: false, status: 'error', error: summarizeFailures(errors), errors, summary, meta }
}

/** Facts about a call, absent ones left out. */
export function buildOutcomeMeta(facts: {
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
  // Not by spreading, which would cost more than all the rest of the outcome. The order of the keys
  // is part of the wire form.
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

/** The same outcome with one more warning. */
export function addOutcomeWarning(outcome: Outcome, warning: string): Outcome {
  const warnings = [...(outcome.meta.warnings ?? []), warning]
  return { ...outcome, meta: { ...outcome.meta, warnings } }
}

/** What a value says of itself: the text, or why there is none. */
type RenderedText = { readonly text: string } | { readonly warning: string }

/** The text a value with a `render()` method shows to a model; undefined without one. */
function renderValue(value: unknown): RenderedText | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  try {
    const { render } = value as { readonly render?: unknown }
    if (typeof render !== 'function') return undefined
    const text: unknown = render.call(value)
    if (text instanceof Promise) text.catch(() => undefined)
    else if (text !== undefined && text !== null) return { text: String(text) }
    return {
      warning: `render() of the result gave ${text instanceof Promise ? 'a promise' : String(text)} where a text is expected; the result is shown as JSON`,
    }
  } catch {
    return { warning: 'render() of the result failed; the result is shown as JSON' }
  }
}

/** The data of such a value: JSON could not carry the function. */
function omitRender(value: unknown): unknown {
  if (
    typeof value !== 'object' ||
    value === null ||
    !Object.hasOwn(value, 'render') ||
    typeof (value as { readonly render: unknown }).render !== 'function' ||
    'toJSON' in value
  )
    return value
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== 'render'))
}

/** What failed in a partial result, and the counts. */
type PartialFailures = { readonly errors: readonly ErrorObject[]; readonly summary: PartialSummary }

/** Reads the failures of a reply; undefined when nothing failed. */
function readPartialFailures(
  { result, errors = [], key, foreign }: Reply,
  declared: { readonly [code: string]: DeclaredError },
): PartialFailures | undefined {
  if (errors.length === 0) return undefined
  const objects = errors.map((error) => describeFailure(toThrowable(error), declared).object)
  const succeeded = countItems(result, key)
  return {
    errors: objects,
    summary: foreign?.summary ?? {
      total: succeeded + objects.length,
      succeeded,
      failed: objects.length,
      recoverable_failures: objects.filter((error) => error.recoverable).length,
    },
  }
}

/** The one error of a reply in which nothing succeeded. */
function summarizeFailures([first, ...more]: readonly ErrorObject[]): ErrorObject {
  return more.length === 0
    ? first!
    : { ...first!, message: `all ${more.length + 1} items failed; the first: ${first!.message}` }
}

function toThrowable(error: PartialError): unknown {
  return error instanceof Error || ToolError.is(error)
    ? error
    : new ToolError(error.code, error.message, error)
}

function countItems(result: unknown, key: string | undefined): number {
  if (key !== undefined) {
    const list = isObject(result) && Object.hasOwn(result, key) ? result[key] : undefined
    return Array.isArray(list) ? list.length : 0
  }
  if (Array.isArray(result)) return result.length
  const list = isObject(result) ? Object.values(result).find(Array.isArray) : undefined
  return list?.length ?? 0
}

/**
 * One block or a list of them as JSON can carry it; throws INTERNAL, naming `giver` and the place,
 * for what no reader would understand.
 */
export function validateContent(giver: string, given: unknown): readonly ContentBlock[] {
  const blocks: readonly unknown[] = Array.isArray(given) ? given : [given]
  return blocks.map((block, index) => {
    const problem = findContentProblem(block)
    if (problem === undefined) return toJsonValue(block).value as ContentBlock
    throw createAuthorError(
      `${giver} gave content that cannot be shown: block ${index + 1} ${problem}`,
      'The author should make it with content.text, content.image, content.audio, content.resource or content.link',
    )
  })
}

/** A failure in both forms: the error for callers in this process, and what travels. */
type DescribedFailure = { readonly error: ToolError; readonly object: ErrorObject }

/** Describes anything thrown, completed from the tool's own error codes. Never throws. */
export function describeFailure(
  thrown: unknown,
  declared: { readonly [code: string]: DeclaredError } = {},
  tool?: string,
): DescribedFailure {
  try {
    const error = nameTypeError(toToolError(thrown), tool).completeFrom(declared)
    return { error, object: toJsonError(error.toObject()) }
  } catch {
    // A frozen error, or a class of the author's that overrides too much.
    const error = new ToolError('INTERNAL', 'the tool threw something that cannot be shown', {
      cause: thrown,
    })
    return { error, object: error.toObject() }
  }
}

// A mistake in the code of a tool says nothing about what it did: `x is not a function` needs at
// least the name.
function nameTypeError(error: ToolError, tool: string | undefined): ToolError {
  if (tool === undefined || error.code !== 'INTERNAL' || error.details?.['name'] !== 'TypeError')
    return error
  return new ToolError(
    'INTERNAL',
    `Tool '${tool}' raised TypeError${error.message === 'TypeError' ? '' : `: ${error.message}`}`,
    { details: error.details, cause: error.cause },
  )
}

function toJsonError(error: ErrorObject): ErrorObject {
  const { suggestion, details } = error
  return {
    ...error,
    ...compact({
      suggestion: suggestion?.input
        ? { ...suggestion, input: toJsonFields(suggestion.input) }
        : undefined,
      details: details ? toJsonFields(details) : undefined,
    }),
  }
}

// What JSON cannot carry must not cost the rest of what is known about a failure.
function toJsonFields(fields: { readonly [key: string]: unknown }): {
  readonly [key: string]: unknown
} {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, field]) => {
      try {
        return field === undefined ? [] : [[key, toJsonValue(field).value]]
      } catch {
        return [[key, '[cannot be shown as JSON]']]
      }
    }),
  )
}
