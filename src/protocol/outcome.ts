/**
 * The outcome: what every call answers with on every transport, and the content blocks (text,
 * images, audio, resources) that go to a model with it.
 */

import { isObject } from '../util/values.ts'
import type { ErrorCategory } from './errors.ts'

/** What an agent should do about a failure. */
export type Suggestion = {
  readonly action: 'retry_with_modified_input' | 'use_different_tool' | 'abort'
  readonly fix: string
  readonly example?: string
  /** A repaired input; each surface renders it in its own form (a command line, JSON). */
  readonly input?: { readonly [field: string]: unknown }
  readonly applicability: 'machine_applicable' | 'maybe_incorrect' | 'has_placeholders'
}

/**
 * The error object of every envelope. `recoverable`: the caller can fix the request. `retryable`:
 * the same request may work later.
 */
export type ErrorObject = {
  readonly code: string
  readonly category: ErrorCategory
  readonly message: string
  readonly recoverable: boolean
  readonly retryable: boolean
  readonly suggestion?: Suggestion
  readonly field?: string
  readonly details?: { readonly [key: string]: unknown }
}

/** A file or other product that a call left behind. */
export type Artifact = { readonly name: string; readonly uri: string; readonly sha256?: string }

/** Facts about a call that are not its result. Absent values are left out. */
export type OutcomeMeta = {
  readonly tool: string
  readonly version?: string
  readonly duration_ms: number
  readonly dry_run?: true
  readonly warnings?: readonly string[]
  readonly truncated?: true
  readonly next_cursor?: string
  readonly caller?: string
  readonly run_id?: string
  readonly artifacts?: readonly Artifact[]
}

/** Counts of a partly successful call. */
export type PartialSummary = {
  readonly total: number
  readonly succeeded: number
  readonly failed: number
  readonly recoverable_failures: number
}

export type SuccessOutcome<Result = unknown> = {
  readonly ok: true
  readonly status: 'success'
  readonly result: Result
  /** Text for the model that goes with the result. */
  readonly message?: string
  /**
   * The result is for the program, not for the model: renderers for models show message and content
   * only.
   */
  readonly hidden?: true
  /** What a model is shown besides the message: pictures, sound, files. */
  readonly content?: readonly ContentBlock[]
  readonly meta: OutcomeMeta
}

export type PartialOutcome<Result = unknown> = {
  readonly ok: true
  readonly status: 'partial'
  readonly result: Result
  readonly message?: string
  readonly hidden?: true
  readonly content?: readonly ContentBlock[]
  readonly errors: readonly ErrorObject[]
  readonly summary: PartialSummary
  readonly meta: OutcomeMeta
}

export type FailureOutcome = {
  readonly ok: false
  readonly status: 'error'
  readonly error: ErrorObject
  /** Set when a partial outcome had no success at all. */
  readonly errors?: readonly ErrorObject[]
  readonly summary?: PartialSummary
  readonly meta: OutcomeMeta
}

/** What every call answers with, on every surface. */
export type Outcome<Result = unknown> =
  SuccessOutcome<Result> | PartialOutcome<Result> | FailureOutcome

/** Who a piece of content is for, and how much it matters. */
export type ContentAnnotations = {
  readonly audience?: readonly ('user' | 'assistant')[]
  /** From 0 (may be left out) to 1 (has to be seen). */
  readonly priority?: number
  /** An ISO 8601 date. */
  readonly lastModified?: string
}

type AnnotatedContent = { readonly annotations?: ContentAnnotations }

export type TextContent = AnnotatedContent & { readonly type: 'text'; readonly text: string }
/** A picture; `data` is base64. */
export type ImageContent = AnnotatedContent & {
  readonly type: 'image'
  readonly data: string
  readonly mimeType: string
}
/** Sound; `data` is base64. */
export type AudioContent = AnnotatedContent & {
  readonly type: 'audio'
  readonly data: string
  readonly mimeType: string
}
/** A resource whose contents travel along; `blob` is base64. */
export type EmbeddedResource = AnnotatedContent & {
  readonly type: 'resource'
  readonly resource:
    | { readonly uri: string; readonly mimeType?: string; readonly text: string }
    | { readonly uri: string; readonly mimeType?: string; readonly blob: string }
}
/** A resource that the reader may fetch by its address. */
export type ResourceLink = AnnotatedContent & {
  readonly type: 'resource_link'
  readonly uri: string
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly mimeType?: string
  readonly size?: number
}

/** One piece of what is shown to a model, in the form that MCP carries. */
export type ContentBlock =
  TextContent | ImageContent | AudioContent | EmbeddedResource | ResourceLink

/**
 * What keeps a value from being content that readers understand, as the end of a sentence;
 * undefined when nothing does.
 */
export function findContentProblem(block: unknown): string | undefined {
  if (!isObject(block)) return `is ${describeKind(block)}, not a block`
  const { type, annotations } = block
  if (typeof type !== 'string' || !Object.hasOwn(PROBLEM_FINDERS, type))
    return `has the type ${(JSON.stringify(type) ?? 'undefined').slice(0, 40)}; types are ${Object.keys(PROBLEM_FINDERS).join(', ')}`
  return (
    PROBLEM_FINDERS[type as ContentBlock['type']](block) ??
    (annotations === undefined ? undefined : findAnnotationProblem(annotations))
  )
}

type ContentFields = { readonly [field: string]: unknown }

const PROBLEM_FINDERS: {
  readonly [Type in ContentBlock['type']]: (block: ContentFields) => string | undefined
} = {
  text: ({ text }) => (typeof text === 'string' ? undefined : "needs a 'text'"),
  image: (block) => findMediaProblem(block, 'image/png'),
  audio: (block) => findMediaProblem(block, 'audio/wav'),
  resource: ({ resource }) =>
    isObject(resource) ? findResourceProblem(resource) : "needs a 'resource'",
  resource_link: findLinkProblem,
}

function findMediaProblem({ data, mimeType }: ContentFields, example: string): string | undefined {
  if (typeof mimeType !== 'string' || !mimeType.includes('/'))
    return `needs a 'mimeType' such as ${example}`
  return isBase64(data) ? undefined : "needs 'data' in base64"
}

function findResourceProblem({ uri, mimeType, text, blob }: ContentFields): string | undefined {
  if (typeof uri !== 'string') return "needs a 'uri' in its resource"
  if (!isOptionalString(mimeType)) return "has a 'mimeType' in its resource that is no text"
  const given = typeof text === 'string' ? blob === undefined : text === undefined && isBase64(blob)
  return given ? undefined : "needs either a 'text' or a 'blob' in base64 in its resource"
}

function findLinkProblem({ uri, name, size, ...more }: ContentFields): string | undefined {
  if (typeof uri !== 'string') return "needs a 'uri'"
  if (typeof name !== 'string') return "needs a 'name'"
  if (size !== undefined && !(Number.isSafeInteger(size) && (size as number) >= 0))
    return "has a 'size' that is no number of bytes"
  const wrong = ['title', 'description', 'mimeType'].find((field) => !isOptionalString(more[field]))
  return wrong && `has a '${wrong}' that is no text`
}

function findAnnotationProblem(annotations: unknown): string | undefined {
  if (!isObject(annotations)) return "has 'annotations' that are no object"
  const { audience, priority, lastModified } = annotations
  if (
    audience !== undefined &&
    !(Array.isArray(audience) && audience.every((who) => who === 'user' || who === 'assistant'))
  )
    return "has an 'audience' other than user and assistant"
  if (priority !== undefined && !(typeof priority === 'number' && priority >= 0 && priority <= 1))
    return "has a 'priority' that is not between 0 and 1"
  return isOptionalString(lastModified) ? undefined : "has a 'lastModified' that is no text"
}

function describeKind(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'a list' : typeof value
}

function isOptionalString(value: unknown): boolean {
  return value === undefined || typeof value === 'string'
}

function isBase64(data: unknown): boolean {
  return typeof data === 'string' && data.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(data)
}
