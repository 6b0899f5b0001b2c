import type { Context } from '../../contract/context.ts'
import { readOutcome } from '../../contract/dialects/read-outcome.ts'
import { isObject } from '../../contract/json.ts'
import type { JsonObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { ok } from '../../define/results.ts'
import { replyOf } from '../foreign/reply-of.ts'
import { request } from '../http/request.ts'
import type { HttpAnswer } from '../http/request.ts'
import { statusFailure } from '../http/status-failure.ts'
import { bodyOf } from './body.ts'
import type { Operation } from './operations.ts'
import type { RequestPlan } from './plan.ts'
import { headerText, pathPart, queryPairs } from './serialize.ts'

/** An operation that can be called. */
export type Callable = {
  readonly operation: Operation
  readonly plan: RequestPlan
  readonly server: URL
  /** Configured ones, for this server only. */
  readonly headers: { readonly [name: string]: string }
  readonly timeout: number
  /** `API 'x'`, for messages. */
  readonly who: string
  /** What the document says about who may call. */
  readonly credentials: string
}

/** Calls an operation; throws ToolError. */
export async function callOperation(
  callable: Callable,
  input: JsonObject,
  ctx: Context,
): Promise<unknown> {
  const { operation, plan, who, timeout } = callable
  const url = addressOf(callable, input)
  const body = plan.body && bodyOf(plan.body, plan.fields, input)
  const answer = await request({
    url,
    method: operation.method.toUpperCase(),
    headers: {
      ...headersOf(callable, input, ctx),
      ...(body?.type !== undefined && { 'content-type': body.type }),
    },
    ...(body && { body: body.body }),
    signal: ctx.signal,
    timeout,
    who,
  })
  if (answer.status >= 300)
    throw explain(statusFailure(answer, who, operation.name), answer, callable)
  return readAnswer(answer, operation.name)
}

// No value may change where a request goes: the address has as many steps as its template, below the address of the server.
function addressOf({ operation, plan, server }: Callable, input: JsonObject): URL {
  const url = new URL(server)
  const base = url.pathname.replace(/\/+$/, '')
  const path = operation.path.replace(/\{([^}]*)\}/g, (_whole, name: string) => {
    const field = plan.fields.find(
      (candidate) => candidate.in === 'path' && candidate.name === name,
    )!
    return pathPart(field, given(input, field.field))
  })
  url.pathname = `${base}${path}`
  const steps = (text: string): number => text.split('/').length
  if (
    url.origin !== server.origin ||
    !url.pathname.startsWith(base) ||
    steps(url.pathname) !== steps(`${base}${operation.path}`)
  )
    throw new ToolError(
      'INVALID_INPUT',
      `the input would lead ${operation.method.toUpperCase()} ${operation.path} to another place`,
    )
  for (const field of plan.fields) {
    const value = field.in === 'query' ? given(input, field.field) : undefined
    if (value !== undefined)
      for (const [name, text] of queryPairs(field, value)) url.searchParams.append(name, text)
  }
  return url
}

function headersOf(
  { plan, headers }: Callable,
  input: JsonObject,
  ctx: Context,
): { readonly [name: string]: string } {
  const made: { [name: string]: string } = { accept: 'application/json, text/*;q=0.9, */*;q=0.5' }
  const cookies: string[] = []
  for (const field of plan.fields) {
    const value = given(input, field.field)
    if (value === undefined) continue
    if (field.in === 'header') made[field.name.toLowerCase()] = headerText(field, value)
    if (field.in === 'cookie')
      cookies.push(
        ...queryPairs(field, value).map(
          ([name, text]) => `${encodeURIComponent(name)}=${encodeURIComponent(text)}`,
        ),
      )
  }
  // Who calls has consented already, or the call would not be here.
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
  if (cookies.length > 0)
    made['cookie'] = [
      ...(configured['cookie'] === undefined ? [] : [configured['cookie']]),
      ...cookies,
    ].join('; ')
  return { ...made, ...configured, ...(made['cookie'] !== undefined && { cookie: made['cookie'] }) }
}

function given(input: JsonObject, field: string): unknown {
  return Object.hasOwn(input, field) ? input[field] : undefined
}

function explain(failure: ToolError, { status }: HttpAnswer, { credentials }: Callable): ToolError {
  if (failure.suggestion || (status !== 401 && status !== 403)) return failure
  return new ToolError(failure.code, failure.message, {
    ...failure.toObject(),
    suggestion: { action: 'abort', fix: `Give the registry credentials for it: ${credentials}` },
    cause: failure,
  })
}

function readAnswer({ document, bytes, type }: HttpAnswer, tool: string): unknown {
  if (document !== undefined)
    return isOurs(document) ? replyOf(readOutcome(document, { tool })!) : document
  if (bytes.length === 0) return null
  const mimeType = type.split(';')[0]!.trim()
  if (mimeType.startsWith('image/') && !mimeType.includes('svg'))
    return ok(null, { content: { type: 'image', data: bytes.toString('base64'), mimeType } })
  if (mimeType.startsWith('audio/'))
    return ok(null, { content: { type: 'audio', data: bytes.toString('base64'), mimeType } })
  const text = bytes.toString('utf8')
  if (
    mimeType.startsWith('text/') ||
    /\b(xml|yaml|javascript|csv)\b/.test(mimeType) ||
    !/[\0\uFFFD]/.test(text)
  )
    return text
  return { mimeType: mimeType || 'application/octet-stream', base64: bytes.toString('base64') }
}

// By HTTP the status tells failures; of the documents only those of this package are envelopes.
function isOurs(document: unknown): boolean {
  return (
    isObject(document) &&
    typeof document['ok'] === 'boolean' &&
    isObject(document['meta']) &&
    typeof document['meta']['tool'] === 'string'
  )
}
