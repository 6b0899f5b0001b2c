/**
 * Sends the request of an operation and reads its response.
 */

import { ok } from '../../define/results.ts'
import type { Context } from '../../protocol/context.ts'
import { readOutcome } from '../../protocol/dialects/read-outcome.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { JsonObject } from '../../util/values.ts'
import { asObject, asText, compact, isObject } from '../../util/values.ts'
import { toReply, toStatusError } from '../foreign/reply.ts'
import type { HttpResult } from '../http.ts'
import { sendRequest } from '../http.ts'
import type { ApiOperation } from './document.ts'
import type { BodyPlan, FieldPlan, RequestPlan } from './request-plan.ts'

/** An operation that can be called. */
export type CallableOperation = {
  readonly operation: ApiOperation
  readonly plan: RequestPlan
  readonly server: URL
  /** The configured headers; empty for another server. */
  readonly headers: { readonly [name: string]: string }
  readonly timeoutMs: number
  /** `API 'x'`, for messages. */
  readonly who: string
  /** The line of configuration that the document's security scheme needs. */
  readonly credentials: string
}

/** Calls an operation. Throws ToolError. */
export async function callOperation(
  callable: CallableOperation,
  input: JsonObject,
  ctx: Context,
): Promise<unknown> {
  const { operation, plan, who, timeoutMs } = callable
  const url = buildUrl(callable, input)
  const body = plan.body && buildBody(plan.body, plan.fields, input)
  const answer = await sendRequest(
    compact({
      url,
      method: operation.method.toUpperCase(),
      headers: {
        ...buildHeaders(callable, input, ctx),
        ...compact({ 'content-type': body?.type }),
      },
      body: body?.body,
      signal: ctx.signal,
      timeout: timeoutMs,
      who,
    }),
  )
  if (answer.status >= 300)
    throw addCredentialsHint(toStatusError(answer, who, operation.name), answer, callable)
  return readOperationResult(answer, operation.name)
}

// No value may change where a request goes: the address has as many segments as its template, below
// the server's address.
function buildUrl({ operation, plan, server }: CallableOperation, input: JsonObject): URL {
  const url = new URL(server)
  const base = url.pathname.replace(/\/+$/, '')
  const path = operation.path.replace(/\{([^}]*)\}/g, (_whole, name: string) => {
    const field = plan.fields.find((known) => known.in === 'path' && known.name === name)!
    return toPathSegment(field, getInput(input, field.field))
  })
  url.pathname = `${base}${path}`
  const countSteps = (text: string): number => text.split('/').length
  if (
    url.origin !== server.origin ||
    !url.pathname.startsWith(base) ||
    countSteps(url.pathname) !== countSteps(`${base}${operation.path}`)
  )
    throw new ToolError(
      'INVALID_INPUT',
      `the input would lead ${operation.method.toUpperCase()} ${operation.path} to another place`,
    )
  for (const field of plan.fields) {
    const value = getInput(input, field.field)
    if (field.in === 'query' && value !== undefined)
      for (const [name, text] of toQueryPairs(field, value)) url.searchParams.append(name, text)
  }
  return url
}

function buildHeaders(
  { plan, headers }: CallableOperation,
  input: JsonObject,
  ctx: Context,
): { readonly [name: string]: string } {
  const made: { [name: string]: string } = { accept: 'application/json, text/*;q=0.9, */*;q=0.5' }
  const cookies: string[] = []
  for (const field of plan.fields) {
    const value = getInput(input, field.field)
    if (value === undefined) continue
    if (field.in === 'header') made[field.name.toLowerCase()] = toHeaderText(field, value)
    if (field.in === 'cookie')
      for (const [name, text] of toQueryPairs(field, value))
        cookies.push(`${encodeURIComponent(name)}=${encodeURIComponent(text)}`)
  }
  // The caller has consented already, or the call would not have come this far.
  if (plan.control.includes('toolable-confirm')) made['toolable-confirm'] = 'yes'
  if (
    plan.control.includes('toolable-caller') &&
    ctx.caller !== undefined &&
    /^[\x20-\x7e]{1,100}$/.test(ctx.caller)
  )
    made['toolable-caller'] = ctx.caller
  const configured = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  )
  if (cookies.length === 0) return { ...made, ...configured }
  const own = configured['cookie'] === undefined ? [] : [configured['cookie']]
  return { ...made, ...configured, cookie: [...own, ...cookies].join('; ') }
}

function getInput(input: JsonObject, field: string): unknown {
  return Object.hasOwn(input, field) ? input[field] : undefined
}

function addCredentialsHint(
  failure: ToolError,
  { status }: HttpResult,
  { credentials }: CallableOperation,
): ToolError {
  if (failure.suggestion || (status !== 401 && status !== 403)) return failure
  return new ToolError(failure.code, failure.message, {
    ...failure.toObject(),
    suggestion: { action: 'abort', fix: `Give the registry credentials for it: ${credentials}` },
    cause: failure,
  })
}

function readOperationResult({ document, bytes, type }: HttpResult, tool: string): unknown {
  if (document !== undefined)
    return isToolableEnvelope(document) ? toReply(readOutcome(document, { tool })!) : document
  if (bytes.length === 0) return null
  const mimeType = type.split(';')[0]!.trim()
  const media = /^(image|audio)\//.exec(mimeType)?.[1] as 'image' | 'audio' | undefined
  if (media && !(media === 'image' && mimeType.includes('svg')))
    return ok(null, { content: { type: media, data: bytes.toString('base64'), mimeType } })
  const text = bytes.toString('utf8')
  if (
    mimeType.startsWith('text/') ||
    /\b(xml|yaml|javascript|csv)\b/.test(mimeType) ||
    !/[\0\uFFFD]/.test(text)
  )
    return text
  return { mimeType: mimeType || 'application/octet-stream', base64: bytes.toString('base64') }
}

// Over HTTP the status reports failures; only documents of this package are envelopes.
function isToolableEnvelope(document: unknown): boolean {
  const { ok: isOk, meta } = asObject(document) ?? {}
  return typeof isOk === 'boolean' && typeof asObject(meta)?.['tool'] === 'string'
}

/** A value as a segment of a path. Throws INVALID_INPUT for one that could lead elsewhere. */
function toPathSegment(plan: FieldPlan, value: unknown): string {
  const { field, style, explode, name } = plan
  const parts = toValueParts(plan, value)
  for (const { text } of parts) {
    const leadsElsewhere = text.split(/[/\\]/).some((step) => step === '.' || step === '..')
    if (text === '' || leadsElsewhere || text.includes('\0'))
      throw new ToolError(
        'INVALID_INPUT',
        `${JSON.stringify(text)} cannot stand for '${field}' in a path`,
        { field },
      )
  }
  if (style === 'matrix' && explode)
    return parts
      .map(({ key, text }) => `;${encodeStrict(key ?? name)}=${encodeStrict(text)}`)
      .join('')
  const joinParts = (separator: string): string =>
    parts
      .map(({ key, text }) => {
        if (key === undefined) return encodeStrict(text)
        return `${encodeStrict(key)}${explode ? '=' : ','}${encodeStrict(text)}`
      })
      .join(separator)
  if (style === 'matrix') return `;${encodeStrict(name)}=${joinParts(',')}`
  return style === 'label' ? `.${joinParts(explode ? '.' : ',')}` : joinParts(',')
}

const QUERY_SEPARATORS: { readonly [style: string]: string } = {
  spaceDelimited: ' ',
  pipeDelimited: '|',
}

/** A value as pairs of a query. */
function toQueryPairs(plan: FieldPlan, value: unknown): readonly (readonly [string, string])[] {
  const { name, style, explode } = plan
  const parts = toValueParts(plan, value)
  if (style === 'deepObject')
    return parts.map(({ key, text }) => [key === undefined ? name : `${name}[${key}]`, text])
  if (explode) return parts.map(({ key, text }) => [key ?? name, text])
  if (parts.length === 0) return []
  const words = parts.flatMap(({ key, text }) => (key === undefined ? [text] : [key, text]))
  return [[name, words.join(QUERY_SEPARATORS[style] ?? ',')]]
}

/** A value as the text of a header. Throws INVALID_INPUT for what a header cannot carry. */
function toHeaderText(plan: FieldPlan, value: unknown): string {
  const text = toValueParts(plan, value)
    .map((part) =>
      part.key === undefined ? part.text : `${part.key}${plan.explode ? '=' : ','}${part.text}`,
    )
    .join(',')
  // Anything else could start another header or break the encoding.
  if (/^[\t\x20-\x7e\x80-\xff]*$/.test(text)) return text
  throw new ToolError(
    'INVALID_INPUT',
    `'${plan.field}' travels in a header, which cannot carry line breaks and characters outside Latin-1`,
    { field: plan.field },
  )
}

type ValuePart = { readonly key?: string; readonly text: string }

function toValueParts({ field, json }: FieldPlan, value: unknown): readonly ValuePart[] {
  if (json) return [{ text: JSON.stringify(value) }]
  if (Array.isArray(value)) return value.map((item: unknown) => ({ text: toPartText(field, item) }))
  if (isObject(value))
    return Object.entries(value).map(([key, item]) => ({ key, text: toPartText(field, item) }))
  return [{ text: toPartText(field, value) }]
}

function toPartText(field: string, value: unknown): string {
  const text = value === null ? '' : (asText(value) ?? JSON.stringify(value))
  if (/\p{Surrogate}/u.test(text))
    throw new ToolError('INVALID_INPUT', `'${field}' contains half a character`, { field })
  return text
}

function encodeStrict(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

type RequestBody = {
  readonly body: string | FormData | URLSearchParams
  /** Absent where the body brings its own. */
  readonly type?: string
}

/** The body of a request. Undefined when the input has nothing for it. */
function buildBody(
  { type, field }: BodyPlan,
  fields: readonly FieldPlan[],
  input: JsonObject,
): RequestBody | undefined {
  const value = field === undefined ? pickBodyFields(fields, input) : getInput(input, field)
  if (value === undefined) return undefined
  const plain = type.split(';')[0]!.trim().toLowerCase()
  if (plain === 'application/x-www-form-urlencoded')
    return { body: new URLSearchParams(toFormPairs(value)) }
  if (plain === 'multipart/form-data') {
    const form = new FormData()
    for (const [name, text] of toFormPairs(value)) form.append(name, text)
    return { body: form }
  }
  if (plain.startsWith('text/')) return { body: String(value), type: plain }
  return { body: JSON.stringify(value), type: plain.includes('*') ? 'application/json' : plain }
}

function pickBodyFields(fields: readonly FieldPlan[], input: JsonObject): JsonObject {
  const parameters = new Set(fields.map(({ field }) => field))
  return Object.fromEntries(Object.entries(input).filter(([name]) => !parameters.has(name)))
}

function toFormPairs(value: unknown): [string, string][] {
  return Object.entries(asObject(value) ?? {}).flatMap(([name, given]) =>
    [given].flat().map((item): [string, string] => [name, asText(item) ?? JSON.stringify(item)]),
  )
}
