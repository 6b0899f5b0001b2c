import { ToolError } from '../../contract/tool-error.ts'
import type { Servable } from '../../call/servable.ts'
import type { HttpAnswer, HttpApp } from './exchange.ts'
import { refuse, refuseThrown } from './refuse.ts'
import { findIndexRoute, findOpenapiRoute, findWellKnownRoute } from './routes/discovery.ts'
import { findPromptRoute, findResourceRoute } from './routes/reading.ts'
import type { Answerer, AppOptions, FindRoute, Route } from './routes/route.ts'
import { findToolRoute } from './routes/tools.ts'

const ROUTES: ReadonlyMap<string, FindRoute> = new Map([
  ['', findIndexRoute],
  ['tools', findToolRoute],
  ['resources', findResourceRoute],
  ['prompts', findPromptRoute],
  ['openapi.json', findOpenapiRoute],
  ['.well-known', findWellKnownRoute],
])

/** The HTTP API of a toolset, without guards: `/tools/<name>` and the documents about it. Every refusal is an envelope. */
export function createApp(set: Servable, options: AppOptions = {}): HttpApp {
  const meta = { tool: set.name, version: set.version }
  return async (request) => {
    try {
      if (options.mcp && (request.path === '/mcp' || request.path === '/mcp/'))
        return await options.mcp(request)
      const route = findRoute(request.path)
      if (!route) return refuse(nothingHere(request.path), { meta })
      const answer = methodOf(route, request.method)
      return answer
        ? await answer({ request, set, options })
        : refuseMethod(route, request.method, request.path, meta)
    } catch (error) {
      return refuseThrown(error, { meta })
    }
  }
}

function findRoute(path: string): Route | undefined {
  const [first = '', ...rest] = path.slice(1).split('/').map(decode)
  // A slash at the end changes nothing.
  if (rest.at(-1) === '') rest.pop()
  return ROUTES.get(first)?.(rest)
}

function decode(segment: string): string {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new ToolError('INVALID_INPUT', `'${segment.slice(0, 100)}' is not percent-encoded UTF-8`)
  }
}

function methodOf(route: Route, method: string): Answerer | undefined {
  if (method === 'HEAD') return route.GET
  return method === 'GET' || method === 'POST' ? route[method] : undefined
}

function refuseMethod(
  route: Route,
  method: string,
  path: string,
  meta: { readonly tool: string; readonly version: string },
): HttpAnswer {
  const allowed = [
    ...(route.GET ? ['GET', 'HEAD'] : []),
    ...(route.POST ? ['POST'] : []),
    'OPTIONS',
  ]
  const headers = { allow: allowed.join(', ') }
  if (method === 'OPTIONS') return { status: 204, headers }
  return refuse(
    new ToolError('USAGE', `${path.slice(0, 100)} does not answer ${method}`, {
      suggestion: `Use ${allowed.join(', ')}`,
    }),
    { status: 405, headers, meta },
  )
}

function nothingHere(path: string): ToolError {
  return new ToolError('NOT_FOUND', `nothing is at ${path.slice(0, 100)}`, {
    suggestion: {
      fix: 'The tools are at /tools/<name>; GET / shows what is here',
      example: 'GET /',
    },
  })
}
