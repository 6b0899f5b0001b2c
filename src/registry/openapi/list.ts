import type { JsonObject } from '../../contract/json.ts'
import type { Annotations } from '../../contract/manifest.ts'
import { isObject } from '../../contract/json.ts'
import type { ToolError } from '../../contract/tool-error.ts'
import { defineForeign } from '../foreign/define-foreign.ts'
import { summaryOf } from '../foreign/summary.ts'
import type { ForeignFacts, FoundTool, Loaded, Problem } from '../found.ts'
import { callOperation } from './call.ts'
import type { Callable } from './call.ts'
import { planInput } from './input.ts'
import { listOperations } from './operations.ts'
import type { Operation } from './operations.ts'
import { resolved } from './pointers.ts'
import { serverOf } from './servers.ts'
import type { Origin } from './servers.ts'

/** An API with everything replaced and checked. */
export type Api = {
  readonly name: string
  readonly who: string
  readonly location: string
  readonly headers: { readonly [name: string]: string }
  readonly timeout: number
}

/** The operations of a document as tools. What cannot be one is told. */
export function findTools(document: JsonObject, origin: Origin, api: Api): Loaded {
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
  const main = mainOrigin(document, origin)
  const credentials = describeCredentials(document)
  const tools = listOperations(document).flatMap((operation): readonly FoundTool[] => {
    const called = `${operation.method.toUpperCase()} ${operation.path} of ${who}`
    const plan = planInput(document, operation, (ref) =>
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
      const server = serverOf(document, operation.servers, origin)
      // Credentials are for the API that was configured, not for whatever else its document names.
      const headers = server.origin === main ? api.headers : {}
      return [
        foundTool(
          { operation, plan, server, headers, timeout: api.timeout, who, credentials },
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

function mainOrigin(document: JsonObject, origin: Origin): string | undefined {
  try {
    return serverOf(document, undefined, origin).origin
  } catch {
    return undefined
  }
}

function foundTool(callable: Callable, document: JsonObject, api: Api): FoundTool {
  const { operation, plan } = callable
  const facts: ForeignFacts = { ...factsOf(operation), inputSchema: plan.schema }
  const info = isObject(document['info']) ? document['info'] : {}
  return {
    source: api.name,
    ...(typeof info['version'] === 'string' && { version: info['version'] }),
    name: operation.name,
    tier: 'server',
    kind: 'openapi',
    location: `${operation.method.toUpperCase()} ${callable.server.origin}${callable.server.pathname.replace(/\/+$/, '')}${operation.path}`,
    summary: summaryOf(operation.name, facts),
    tags: facts.tags ?? [],
    define: (name) =>
      defineForeign(name, facts, (input, ctx) => callOperation(callable, input, ctx)),
  }
}

function factsOf({
  method,
  path,
  facts: { summary, description, tags, deprecated, 'x-toolable': hints },
}: Operation): ForeignFacts {
  const texts = [description, deprecated === true ? 'Deprecated.' : undefined].filter(
    (text): text is string => typeof text === 'string' && text.trim() !== '',
  )
  return {
    summary:
      typeof summary === 'string' && summary.trim() !== ''
        ? summary
        : texts.length > 0
          ? ''
          : `${method.toUpperCase()} ${path}`,
    ...(texts.length > 0 && { description: texts.join('\n\n') }),
    tags: Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [],
    annotations: isObject(hints) ? ownHints(hints) : byMethod(method),
  }
}

function byMethod(method: string): Annotations {
  const reads = method === 'get' || method === 'head' || method === 'options'
  return {
    readOnly: reads,
    ...(method === 'delete' && { destructive: true }),
    ...((reads || method === 'put' || method === 'delete') && { idempotent: true }),
    openWorld: true,
  }
}

function ownHints(hints: JsonObject): Annotations {
  return Object.fromEntries(
    (['readOnly', 'destructive', 'idempotent', 'openWorld'] as const).flatMap((name) =>
      typeof hints[`${name}Hint`] === 'boolean' ? [[name, hints[`${name}Hint`]]] : [],
    ),
  )
}

// A line to paste, by what the document says about its credentials.
function describeCredentials(document: JsonObject): string {
  const schemes =
    resolved(document, resolved(document, document['components'])?.['securitySchemes']) ?? {}
  for (const given of Object.values(schemes)) {
    const { type, in: place, name, scheme } = resolved(document, given) ?? {}
    if (type === 'apiKey' && place === 'header') return `headers: { '${String(name)}': '\${KEY}' }`
    if (type === 'http' && scheme === 'basic')
      return "headers: { Authorization: 'Basic ${CREDENTIALS}' }"
  }
  return "headers: { Authorization: 'Bearer ${TOKEN}' }"
}
