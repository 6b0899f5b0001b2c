import { ToolError } from '../../contract/tool-error.ts'
import type { HttpAnswer, HttpApp, HttpRequest } from '../../surfaces/http/exchange.ts'
import { BodyError } from '../../surfaces/http/exchange.ts'
import { refuse, refuseThrown } from '../../surfaces/http/refuse.ts'
import { assetAnswer } from './assets/asset-answer.ts'
import type { Assets } from './assets/load-assets.ts'
import type { Backend } from './backend.ts'
import { addressProblem } from './door/addresses.ts'
import { exchangeToken } from './door/exchange-token.ts'
import { withSafeHeaders } from './door/headers.ts'
import { lockedAnswer, lockedPage } from './door/locked.ts'
import type { Session } from './door/session.ts'
import { findRoute } from './routes/find-route.ts'
import { readBody } from './routes/read-body.ts'
import { RefusedRequest } from './routes/refused-request.ts'
import type { StreamOptions } from './stream/stream-answer.ts'

/** How a dashboard is served. */
export type DashboardOptions = StreamOptions & {
  readonly session: Session
  /** The port that it listens on, as soon as there is one. */
  readonly port: () => number
  /** Refuses everything that would change something. */
  readonly readOnly: boolean
  readonly assets: Assets
  /** Told of failures that are nobody's but ours. */
  readonly onFailure?: (error: Error) => void
}

const META = { tool: 'dashboard' } as const
const API = '/api'

/** The dashboard as an HTTP app: the page, and what it asks for below `/api`. Only whoever has the token or its cookie, from a page of ours or from a program, gets anything. */
export function createDashboardApp(backend: Backend, options: DashboardOptions): HttpApp {
  return async (request) => {
    try {
      return withSafeHeaders(await answer(request, backend, options))
    } catch (error) {
      return withSafeHeaders(refuseError(error, options))
    }
  }
}

function answer(
  request: HttpRequest,
  backend: Backend,
  options: DashboardOptions,
): HttpAnswer | Promise<HttpAnswer> {
  const isApi = request.path === API || request.path.startsWith(`${API}/`)
  const problem = addressProblem(request, options.port(), !isApi && isReading(request))
  if (problem) return refuse(problem, { meta: META })
  if (isApi) return answerApi(request, backend, options)
  return (
    exchangeToken(request, options.session) ??
    (options.session.shownBy(request) === undefined
      ? lockedPage()
      : assetAnswer(request, options.assets))
  )
}

async function answerApi(
  request: HttpRequest,
  backend: Backend,
  { session, readOnly, ...options }: DashboardOptions,
): Promise<HttpAnswer> {
  const shownBy = session.shownBy(request)
  if (shownBy === undefined) return lockedAnswer()
  // A browser sends the cookie by itself; that one of our pages asked is said by the Origin only.
  if (!isReading(request) && shownBy === 'cookie' && request.header('origin') === undefined)
    throw new ToolError(
      'PERMISSION',
      'a request that changes something needs the Origin of the dashboard',
      {
        suggestion: {
          fix: 'Programs send the token instead of the cookie',
          example: 'Authorization: Bearer <token>',
          applicability: 'has_placeholders',
        },
      },
    )
  const { route, places } = findRoute(request.method, request.path.slice(API.length))
  if (readOnly && !route.reads)
    throw new ToolError('PERMISSION', 'this dashboard was started with --read-only', {
      suggestion: { action: 'abort', fix: 'Start toolable ui without --read-only to do this' },
    })
  const body = route.body === undefined ? {} : await readBody(request, route.body)
  return route.answer({
    backend,
    request,
    query: new URLSearchParams(request.search),
    ...places,
    body,
    readOnly,
    stream: options,
  })
}

function isReading({ method }: HttpRequest): boolean {
  return method === 'GET' || method === 'HEAD'
}

function refuseError(error: unknown, { onFailure }: DashboardOptions): HttpAnswer {
  if (error instanceof RefusedRequest)
    return refuse(error.error, { status: error.status, headers: error.headers, meta: META })
  if (!ToolError.is(error) && !(error instanceof BodyError))
    onFailure?.(error instanceof Error ? error : new Error(String(error)))
  return refuseThrown(error, { meta: META })
}
