/**
 * The HTTP API of a toolset: a table of routes over a request and response that no server owns.
 *
 * The `http` folder serves a toolset over HTTP. `exchange.ts` has the request and response types;
 * adapters connect them to node:http (`node-adapter.ts`, `node-server.ts`) and to fetch handlers
 * (`handler.ts`); `guards.ts` checks Host, Origin and token before the app sees a request.
 */

import {
  buildDiscoverDocument,
  buildPromptsDocument,
  buildResourcesDocument,
} from '../cli/discovery.ts'
import { buildManifestDocument } from '../cli/tool-documents.ts'
import type { Servable, ToolEntry } from '../core/provider.ts'
import type { Outcome } from '../protocol/outcome.ts'
import { parseJsonInput } from '../protocol/parse-json.ts'
import { ToolError } from '../protocol/tool-error.ts'
import type { JsonObject } from '../util/values.ts'
import { compact } from '../util/values.ts'
import type { HttpCallDefaults } from './call.ts'
import {
  addNextStep,
  parseCallOptions,
  toDocumentResponse,
  toEventStreamResponse,
  toOutcomeResponse,
  wantsEvents,
  withClientCancellation,
} from './call.ts'
import type { HttpApp, HttpRequest, HttpResponse } from './exchange.ts'
import { toFailureResponse, toRefusalResponse } from './exchange.ts'

type HttpAppOptions = {
  readonly call?: HttpCallDefaults
  /** Bytes that a body may have; default 4 MiB. */
  readonly bodyLimit?: number
  /** Where the app is mounted, as far as it is known; shown in the OpenAPI document. */
  readonly basePath?: string
  /** Says in the OpenAPI document that a token is wanted; guards check it. */
  readonly token?: boolean
  /** Answers `/mcp`. */
  readonly mcp?: HttpApp
  /** Milliseconds of silence after which a stream says that it is alive. */
  readonly keepAlive?: number
}

/** One request with what it is about. */
type RouteContext = {
  readonly request: HttpRequest
  readonly set: Servable
  readonly options: HttpAppOptions
}

type RouteHandler = (exchange: RouteContext) => HttpResponse | Promise<HttpResponse>

/** What can be done at one path, by method; HEAD comes with GET. */
type HttpRoute = { readonly GET?: RouteHandler; readonly POST?: RouteHandler }

/** Finds the route of the path segments behind the first; undefined where there is none. */
type RouteFinder = (segments: readonly string[]) => HttpRoute | undefined

const DEFAULT_BODY_LIMIT_BYTES = 4 * 1024 * 1024

/**
 * The JSON object that a request carries. Another media type is refused: a page elsewhere can send
 * it without being asked for leave.
 */
async function readJsonBody({ request, options }: RouteContext): Promise<JsonObject> {
  const type = request.header('content-type')
  if (!/^\s*application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type ?? ''))
    throw new MediaTypeError(type)
  const text = await request.text(options.bodyLimit ?? DEFAULT_BODY_LIMIT_BYTES)
  return parseJsonInput(text, 'the body', 'Send one JSON object')
}

class MediaTypeError extends ToolError {
  constructor(type: string | undefined) {
    super(
      'INVALID_INPUT',
      `the body is ${type === undefined ? 'of no type' : `'${type.slice(0, 100)}'`}; application/json is expected`,
      { suggestion: { fix: 'Send JSON and say so', example: 'Content-Type: application/json' } },
    )
  }
}

const OPENAPI_MEDIA_TYPE = 'application/vnd.oai.openapi+json;version=3.1'

/** `/`: what is here, with links that are relative to it. */
const findIndexRoute: RouteFinder = (segments) =>
  segments.length === 0 ? { GET: (exchange) => showIndex(exchange, '') } : undefined

/** `/openapi.json`. */
const findOpenapiRoute: RouteFinder = (segments) =>
  segments.length === 0 ? { GET: showOpenApi } : undefined

/** `/.well-known/toolable.json`, and the catalogue of RFC 9727. */
const findWellKnownRoute: RouteFinder = ([name, ...more]) => {
  if (more.length > 0) return undefined
  if (name === 'toolable.json') return { GET: (exchange) => showIndex(exchange, '../') }
  return name === 'api-catalog' ? { GET: showApiCatalog } : undefined
}

async function showIndex({ set, options }: RouteContext, up: string): Promise<HttpResponse> {
  const links = compact({
    tools: `${up}tools`,
    openapi: `${up}openapi.json`,
    mcp: options.mcp ? `${up}mcp` : undefined,
    resources: set.resources.length > 0 ? `${up}resources` : undefined,
    prompts: set.prompts.length > 0 ? `${up}prompts` : undefined,
  })
  const { description } = set.options
  return toDocumentResponse({
    ...buildDiscoverDocument(await set.outline()),
    ...compact({ description }),
    links,
  })
}

async function showOpenApi({
  set,
  options: { basePath, token },
}: RouteContext): Promise<HttpResponse> {
  const { buildOpenApiDocument } = await import('./openapi.ts')
  return toDocumentResponse(
    buildOpenApiDocument(
      await set.manifest(),
      compact({ serverUrl: basePath || undefined, token: token === true }),
    ),
  )
}

function showApiCatalog(): HttpResponse {
  return toDocumentResponse(
    {
      linkset: [
        {
          anchor: '../',
          'service-desc': [{ href: '../openapi.json', type: OPENAPI_MEDIA_TYPE }],
          'service-meta': [{ href: 'toolable.json', type: 'application/json' }],
        },
      ],
    },
    'application/linkset+json',
  )
}

/** `/resources`, and `/resources?uri=…` for one of them. */
const findResourceRoute: RouteFinder = (segments) =>
  segments.length === 0 ? { GET: readResources } : undefined

/** `/prompts` and `/prompts/<name>`. */
const findPromptRoute: RouteFinder = ([name, ...more]) => {
  if (more.length > 0) return undefined
  return name === undefined
    ? { GET: listPrompts }
    : { POST: (exchange) => renderPrompt(exchange, name) }
}

async function readResources({ request, set, options }: RouteContext): Promise<HttpResponse> {
  const uri = new URLSearchParams(request.search).get('uri')
  if (uri === null) return toDocumentResponse(buildResourcesDocument(await set.outline()))
  return toOutcomeResponse(
    await set.readResource(
      uri,
      withClientCancellation(request, parseCallOptions(request, options.call ?? {})),
    ),
  )
}

async function listPrompts({ set }: RouteContext): Promise<HttpResponse> {
  return toDocumentResponse(buildPromptsDocument(await set.outline()))
}

async function renderPrompt(exchange: RouteContext, name: string): Promise<HttpResponse> {
  const { request, set, options } = exchange
  const callOptions = parseCallOptions(request, options.call ?? {})
  const input = await readJsonBody(exchange)
  return toOutcomeResponse(
    await set.renderPrompt(name, input, withClientCancellation(request, callOptions)),
  )
}

/** `/tools` and `/tools/<name>`. */
const findToolRoute: RouteFinder = ([name, ...more]) => {
  if (more.length > 0) return undefined
  return name === undefined ? { GET: listTools } : createToolRoute(name)
}

async function listTools({ set }: RouteContext): Promise<HttpResponse> {
  const { tools } = buildDiscoverDocument(await set.outline()) as { readonly tools: unknown }
  return toDocumentResponse({ tools })
}

function createToolRoute(name: string): HttpRoute {
  const onTool =
    (answer: (exchange: RouteContext, entry: ToolEntry) => Promise<HttpResponse>) =>
    async (exchange: RouteContext): Promise<HttpResponse> => {
      const entry = exchange.set.find(name)
      // The toolset itself says best what is wrong with a name.
      return entry ? answer(exchange, entry) : toOutcomeResponse(await exchange.set.call(name))
    }
  return { GET: onTool(describeTool), POST: onTool(callTool) }
}

async function describeTool(
  _exchange: RouteContext,
  { definition }: ToolEntry,
): Promise<HttpResponse> {
  return toDocumentResponse(buildManifestDocument((await definition.compiled()).manifest))
}

async function callTool(exchange: RouteContext, { name, path }: ToolEntry): Promise<HttpResponse> {
  const { request, set, options } = exchange
  const streamed = wantsEvents(request)
  const callOptions = parseCallOptions(request, options.call ?? {})
  const input = await readJsonBody(exchange)
  const command = set.entries.length === 1 ? [set.name] : [set.name, ...path]
  const complete = (outcome: Outcome): Outcome => addNextStep(outcome, command, input)
  if (streamed) {
    const events = set.stream(name, input, { ...callOptions, signal: request.signal })
    return toEventStreamResponse(events, complete, options.keepAlive)
  }
  return toOutcomeResponse(
    complete(await set.call(name, input, withClientCancellation(request, callOptions))),
  )
}

const ROUTES: ReadonlyMap<string, RouteFinder> = new Map([
  ['', findIndexRoute],
  ['tools', findToolRoute],
  ['resources', findResourceRoute],
  ['prompts', findPromptRoute],
  ['openapi.json', findOpenapiRoute],
  ['.well-known', findWellKnownRoute],
])

/**
 * The HTTP API of a toolset, without guards: `/tools/<name>` and the documents about it. Every
 * refusal is an envelope.
 */
export function createHttpApp(set: Servable, options: HttpAppOptions = {}): HttpApp {
  const meta = { tool: set.name, version: set.version }
  return async (request) => {
    try {
      if (options.mcp && (request.path === '/mcp' || request.path === '/mcp/'))
        return await options.mcp(request)
      const route = findRoute(request.path)
      if (!route) return toRefusalResponse(notFoundError(request.path), { meta })
      const answer = getMethodHandler(route, request.method)
      return answer
        ? await answer({ request, set, options })
        : refuseMethod(route, request.method, request.path, meta)
    } catch (error) {
      if (!(error instanceof MediaTypeError)) return toFailureResponse(error, { meta })
      const headers = { 'accept-post': 'application/json' }
      return toRefusalResponse(error, { status: 415, headers, meta })
    }
  }
}

function findRoute(path: string): HttpRoute | undefined {
  const [first = '', ...rest] = path.slice(1).split('/').map(decodeSegment)
  // A slash at the end changes nothing.
  if (rest.at(-1) === '') rest.pop()
  return ROUTES.get(first)?.(rest)
}

function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new ToolError('INVALID_INPUT', `'${segment.slice(0, 100)}' is not percent-encoded UTF-8`)
  }
}

function getMethodHandler(route: HttpRoute, method: string): RouteHandler | undefined {
  if (method === 'HEAD') return route.GET
  return method === 'GET' || method === 'POST' ? route[method] : undefined
}

function refuseMethod(
  route: HttpRoute,
  method: string,
  path: string,
  meta: { readonly tool: string; readonly version: string },
): HttpResponse {
  const allowed = [
    ...(route.GET ? ['GET', 'HEAD'] : []),
    ...(route.POST ? ['POST'] : []),
    'OPTIONS',
  ]
  const headers = { allow: allowed.join(', ') }
  if (method === 'OPTIONS') return { status: 204, headers }
  return toRefusalResponse(
    new ToolError('USAGE', `${path.slice(0, 100)} does not answer ${method}`, {
      suggestion: `Use ${allowed.join(', ')}`,
    }),
    { status: 405, headers, meta },
  )
}

function notFoundError(path: string): ToolError {
  return new ToolError('NOT_FOUND', `nothing is at ${path.slice(0, 100)}`, {
    suggestion: {
      fix: 'The tools are at /tools/<name>; GET / shows what is here',
      example: 'GET /',
    },
  })
}

type LazyMcpOptions = {
  readonly confirm?: 'auto' | 'always'
  readonly bodyLimit?: number
  readonly signal?: AbortSignal
  readonly call?: Omit<HttpCallDefaults, 'confirm'>
}

/** The MCP endpoint of a toolset, loaded when somebody first asks for it. */
export function createLazyMcp(set: Servable, options: LazyMcpOptions = {}): HttpApp {
  let app: Promise<HttpApp> | undefined
  const load = async (): Promise<HttpApp> =>
    (await import('../mcp/http.ts')).createMcpHttpApp(set, options)
  return async (request) => (await (app ??= load()))(request)
}
