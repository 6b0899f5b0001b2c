/**
 * Turns the operations of an OpenAPI document into tools.
 */

import type { Annotations } from '../../protocol/manifest.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { JsonObject } from '../../util/values.ts'
import { compact, isObject } from '../../util/values.ts'
import { defineForeign } from '../foreign/define-foreign.ts'
import { toSummary } from '../names.ts'
import type { ForeignMetadata, FoundTool, LoadedSource, Problem } from '../source.ts'
import type { CallableOperation } from './call.ts'
import { callOperation } from './call.ts'
import type { ApiOperation } from './document.ts'
import { listOperations, resolveRef } from './document.ts'
import { planRequest } from './request-plan.ts'

/** An API with everything replaced and checked. */
export type OpenApiTarget = {
  readonly name: string
  readonly who: string
  readonly location: string
  readonly headers: { readonly [name: string]: string }
  readonly timeoutMs: number
}

/** The operations of a document as tools. What cannot be one is told. */
export function findApiTools(
  document: JsonObject,
  origin: DocumentOrigin,
  api: OpenApiTarget,
): LoadedSource {
  const { name: source, location, who } = api
  const problems: Problem[] = []
  const tell = (
    reason: string,
    message: string,
    fix: string,
    severity: Problem['severity'],
  ): void => {
    if (!problems.some((known) => known.message === message))
      problems.push({ source, location, reason, message, fix, severity })
  }
  const main = getMainOrigin(document, origin)
  const credentials = describeCredentials(document)
  const tools = listOperations(document).flatMap((operation): readonly FoundTool[] => {
    const called = `${operation.method.toUpperCase()} ${operation.path} of ${who}`
    const plan = planRequest(document, operation, (ref) =>
      tell(
        'reference',
        `${who}: the reference '${ref}' leads ${ref.startsWith('#') ? 'nowhere' : 'out of the document and is not fetched'}; any value is taken there`,
        'Put what it means into the document',
        'warning',
      ),
    )
    if (typeof plan === 'string') {
      tell('unsupported', `${called} cannot be a tool: ${plan}`, 'Describe it with JSON', 'error')
      return []
    }
    try {
      const server = resolveServerUrl(document, operation.servers, origin)
      // Credentials are for the API that was configured, not for whatever else its document names.
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
      tell('config', `${who}: ${message}`, suggestion?.fix ?? 'Mend the document', 'error')
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
  const { operation, plan } = callable
  const facts: ForeignMetadata = { ...toOperationMetadata(operation), inputSchema: plan.schema }
  const info = isObject(document['info']) ? document['info'] : {}
  return {
    source: api.name,
    ...compact({ version: typeof info['version'] === 'string' ? info['version'] : undefined }),
    name: operation.name,
    tier: 'server',
    kind: 'openapi',
    location: `${operation.method.toUpperCase()} ${callable.server.origin}${callable.server.pathname.replace(/\/+$/, '')}${operation.path}`,
    summary: toSummary(operation.name, facts),
    tags: facts.tags ?? [],
    define: (name) =>
      defineForeign(name, facts, (input, ctx) => callOperation(callable, input, ctx)),
  }
}

function toOperationMetadata({
  method,
  path,
  facts: { summary, description, tags, deprecated, 'x-toolable': hints },
}: ApiOperation): ForeignMetadata {
  const texts = [description, deprecated === true ? 'Deprecated.' : undefined].filter(
    (text): text is string => typeof text === 'string' && text.trim() !== '',
  )
  return compact({
    summary:
      typeof summary === 'string' && summary.trim() !== ''
        ? summary
        : texts.length > 0
          ? ''
          : `${method.toUpperCase()} ${path}`,
    description: texts.length > 0 ? texts.join('\n\n') : undefined,
    tags: Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [],
    annotations: isObject(hints) ? readToolableHints(hints) : toMethodAnnotations(method),
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

function readToolableHints(hints: JsonObject): Annotations {
  return Object.fromEntries(
    (['readOnly', 'destructive', 'idempotent', 'openWorld'] as const).flatMap((name) =>
      typeof hints[`${name}Hint`] === 'boolean' ? [[name, hints[`${name}Hint`]]] : [],
    ),
  )
}

// A line to paste, by what the document says about its credentials.
function describeCredentials(document: JsonObject): string {
  const schemes =
    resolveRef(document, resolveRef(document, document['components'])?.['securitySchemes']) ?? {}
  for (const given of Object.values(schemes)) {
    const { type, in: place, name, scheme } = resolveRef(document, given) ?? {}
    if (type === 'apiKey' && place === 'header') return `headers: { '${String(name)}': '\${KEY}' }`
    if (type === 'http' && scheme === 'basic')
      return "headers: { Authorization: 'Basic ${CREDENTIALS}' }"
  }
  return "headers: { Authorization: 'Bearer ${TOKEN}' }"
}

/** Where the document came from, and where its API was said to be. */
type DocumentOrigin = {
  /** The address of the document, where it was fetched. */ readonly from?: URL
  readonly baseUrl?: URL
}

/**
 * The address that an operation is called at: as configured, else as its document says. Throws
 * CONFIG where that is nowhere, or where nobody configured it.
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
  // Whoever writes a document on the web must not decide where input and credentials go.
  if (from && url.origin !== from.origin)
    throw new ToolError(
      'CONFIG',
      `the document from ${from.origin} says that its API is at ${url.origin}`,
      { suggestion: `If you trust it, say so: baseUrl: '${url.href}'` },
    )
  return url
}

function fillServerVariables({ url, variables }: JsonObject): string {
  const known = isObject(variables) ? variables : {}
  return String(url).replace(/\{([^{}]+)\}/g, (whole, name: string) => {
    const variable = Object.hasOwn(known, name) ? known[name] : undefined
    return isObject(variable) && typeof variable['default'] === 'string'
      ? variable['default']
      : whole
  })
}
