/**
 * Turns the operations of an OpenAPI document into tools.
 */

import type { Annotations } from '../../protocol/manifest.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { JsonObject } from '../../util/values.ts'
import { asList, asObject, asText, compact, isObject } from '../../util/values.ts'
import { toServerTool } from '../foreign/define-foreign.ts'
import type { ForeignMetadata, FoundTool, LoadedSource, Problem, ReportProblem } from '../source.ts'
import { createReporter, readAnnotations } from '../source.ts'
import type { CallableOperation } from './call.ts'
import { callOperation } from './call.ts'
import type { ApiOperation } from './document.ts'
import { listOperations, listSecuritySchemes } from './document.ts'
import { planRequest } from './request-plan.ts'

/** An API with everything replaced and checked. */
export type OpenApiTarget = {
  readonly name: string
  readonly who: string
  readonly location: string
  readonly headers: { readonly [name: string]: string }
  readonly timeoutMs: number
}

/** The operations of a document as tools. What cannot be one is reported. */
export function findApiTools(
  document: JsonObject,
  origin: DocumentOrigin,
  api: OpenApiTarget,
): LoadedSource {
  const { name: source, location, who } = api
  const problems: Problem[] = []
  const report = createReporter(source, location, problems)
  const reportOnce: ReportProblem = (reason, message, fix, severity) => {
    if (!problems.some((known) => known.message === message)) report(reason, message, fix, severity)
  }
  const main = getMainOrigin(document, origin)
  const credentials = describeCredentials(document)
  const tools = listOperations(document).flatMap((operation): readonly FoundTool[] => {
    const called = `${operation.method.toUpperCase()} ${operation.path} of ${who}`
    const plan = planRequest(document, operation, (ref) =>
      reportOnce(
        'reference',
        `${who}: the reference '${ref}' leads ${ref.startsWith('#') ? 'nowhere' : 'out of the document and is not fetched'}; any value is taken there`,
        'Put what it means into the document',
      ),
    )
    if (typeof plan === 'string') {
      reportOnce(
        'unsupported',
        `${called} cannot be a tool: ${plan}`,
        'Describe it with JSON',
        'error',
      )
      return []
    }
    try {
      const server = resolveServerUrl(document, operation.servers, origin)
      // Credentials are for the configured API only, not for other servers that its document names.
      const headers = server.origin === main ? api.headers : {}
      return [
        toApiFoundTool(
          { operation, plan, server, headers, timeoutMs: api.timeoutMs, who, credentials },
          document,
          api,
        ),
      ]
    } catch (error) {
      const { message, suggestion } = error as ToolError
      reportOnce('config', `${who}: ${message}`, suggestion?.fix ?? 'Mend the document', 'error')
      return []
    }
  })
  return { tools, problems }
}

function getMainOrigin(document: JsonObject, origin: DocumentOrigin): string | undefined {
  try {
    return resolveServerUrl(document, undefined, origin).origin
  } catch {
    return undefined
  }
}

function toApiFoundTool(
  callable: CallableOperation,
  document: JsonObject,
  api: OpenApiTarget,
): FoundTool {
  const { operation, plan, server } = callable
  const base = `${server.origin}${server.pathname.replace(/\/+$/, '')}`
  return toServerTool(
    compact({
      source: api.name,
      version: asText(asObject(document['info'])?.['version']),
      name: operation.name,
      kind: 'openapi',
      location: `${operation.method.toUpperCase()} ${base}${operation.path}`,
    }),
    { ...toOperationMetadata(operation), inputSchema: plan.schema },
    (input, ctx) => callOperation(callable, input, ctx),
  )
}

function toOperationMetadata({
  method,
  path,
  facts: { summary, description, tags, deprecated, 'x-toolable': hints },
}: ApiOperation): ForeignMetadata {
  const texts = [description, deprecated === true ? 'Deprecated.' : undefined].filter(
    (text): text is string => typeof text === 'string' && text.trim() !== '',
  )
  // Without a summary the description gives one; without both, the request does.
  const otherwise = texts.length > 0 ? '' : `${method.toUpperCase()} ${path}`
  return compact({
    summary: asText(summary)?.trim() ? (summary as string) : otherwise,
    description: texts.length > 0 ? texts.join('\n\n') : undefined,
    tags: asList(tags).filter((tag) => typeof tag === 'string'),
    annotations: isObject(hints) ? readAnnotations(hints, 'Hint') : toMethodAnnotations(method),
  })
}

function toMethodAnnotations(method: string): Annotations {
  const reads = method === 'get' || method === 'head' || method === 'options'
  return compact({
    readOnly: reads,
    destructive: method === 'delete' || undefined,
    idempotent: reads || method === 'put' || method === 'delete' || undefined,
    openWorld: true,
  })
}

// A line to paste into the configuration, by the document's security schemes.
function describeCredentials(document: JsonObject): string {
  for (const { type, in: place, name, scheme } of listSecuritySchemes(document)) {
    if (type === 'apiKey' && place === 'header') return `headers: { '${String(name)}': '\${KEY}' }`
    if (type === 'http' && scheme === 'basic')
      return "headers: { Authorization: 'Basic ${CREDENTIALS}' }"
  }
  return "headers: { Authorization: 'Bearer ${TOKEN}' }"
}

/** Where the document came from, and the configured address of its API. */
type DocumentOrigin = {
  /** The address of the document, where it was fetched. */
  readonly from?: URL
  readonly baseUrl?: URL
}

/**
 * The address of an operation: as configured, else as its document says. Throws CONFIG when there
 * is none, or when the document names another origin.
 */
function resolveServerUrl(
  document: JsonObject,
  own: unknown,
  { from, baseUrl }: DocumentOrigin,
): URL {
  if (baseUrl) return baseUrl
  const [server] = [own, document['servers']].flatMap((servers) =>
    Array.isArray(servers) && isObject(servers[0]) ? [servers[0]] : [],
  )
  const text = server ? fillServerVariables(server) : '/'
  const url = URL.canParse(text, from?.href) ? new URL(text, from) : undefined
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw new ToolError(
      'CONFIG',
      `the document does not say where its API is${server ? ` (its server is '${text}')` : ''}`,
      { suggestion: "Give the address: baseUrl: 'https://...'" },
    )
  // The author of a document on the web must not decide where input and credentials go.
  if (from && url.origin !== from.origin)
    throw new ToolError(
      'CONFIG',
      `the document from ${from.origin} says that its API is at ${url.origin}`,
      { suggestion: `If you trust it, say so: baseUrl: '${url.href}'` },
    )
  return url
}

function fillServerVariables({ url, variables }: JsonObject): string {
  const known = asObject(variables) ?? {}
  return String(url).replace(/\{([^{}]+)\}/g, (whole, name: string) => {
    const variable = Object.hasOwn(known, name) ? asObject(known[name]) : undefined
    return asText(variable?.['default']) ?? whole
  })
}
