import { ToolError } from '../../../contract/tool-error.ts'
import type { HttpAnswer, HttpApp, HttpRequest } from '../exchange.ts'
import { refuse } from '../refuse.ts'
import type { RefuseOptions } from '../refuse.ts'

/** What a request has to show before it is looked at. What is absent is not checked. */
export type Guards = {
  /** Names that the Host header may carry, with or without a port. */
  readonly hosts?: readonly string[]
  /** Origins besides loopback and the server's own; they are answered with CORS headers too. `*` is any. */
  readonly origins?: readonly string[]
  /** Tells whether a bearer token is the right one. */
  readonly isToken?: (given: string) => boolean
}

/** Names of this machine that no other page can have. */
export const LOOPBACK_HOSTS = ['localhost', '127.0.0.1', '[::1]'] as const

/** Puts guards in front of an app: Host and Origin (403), CORS for allowed origins, then the token (401). */
export function guarded(
  app: HttpApp,
  guards: Guards,
  meta: RefuseOptions['meta'] = { tool: '' },
): HttpApp {
  // Clients ask under one name again and again.
  let lastHost: string | undefined
  return async (request) => {
    const host = request.header('host')
    const problem =
      (host !== undefined && host === lastHost ? undefined : hostProblem(request, guards)) ??
      originProblem(request, guards)
    if (problem) return refuse(problem, { meta })
    lastHost = host
    const shared = corsHeaders(request, guards)
    if (shared && isPreflight(request))
      return { status: 204, headers: { ...shared, ...preflightHeaders(request) } }
    const answer = tokenRefusal(request, guards, meta) ?? (await app(request))
    return shared ? { ...answer, headers: { ...answer.headers, ...shared } } : answer
  }
}

/** Refuses a Host that was not allowed: a page elsewhere may have given its own name our address. */
export function hostProblem(request: HttpRequest, { hosts }: Guards): ToolError | undefined {
  if (!hosts) return undefined
  const given = (request.header('host') ?? '').toLowerCase()
  const name = given.replace(/:\d+$/, '').replace(/\.$/, '')
  if (hosts.some((host) => host === name || host === given)) return undefined
  return new ToolError('PERMISSION', `the Host '${given.slice(0, 100)}' is not served here`, {
    suggestion: {
      action: 'abort',
      fix: `Ask for one of ${hosts.join(', ')}, or start the server with --allowed-host`,
    },
  })
}

/** Refuses pages of strangers; programs send no Origin. */
export function originProblem(
  request: HttpRequest,
  { origins = [] }: Guards,
): ToolError | undefined {
  const given = request.header('origin')
  if (given === undefined || isAllowed(given, origins)) return undefined
  const host = hostOf(given)
  if (
    host !== undefined &&
    (isLoopback(host.replace(/:\d+$/, '')) || host === request.header('host')?.toLowerCase())
  )
    return undefined
  return new ToolError(
    'PERMISSION',
    `pages of the origin '${given.slice(0, 100)}' may not call this server`,
    { suggestion: { action: 'abort', fix: 'The operator of the server can allow the origin' } },
  )
}

/** Refuses a request without the bearer token. */
export function tokenRefusal(
  request: HttpRequest,
  { isToken }: Guards,
  meta: RefuseOptions['meta'] = { tool: '' },
): HttpAnswer | undefined {
  if (!isToken) return undefined
  const given = request.header('authorization')
  const token = given === undefined ? undefined : /^bearer +(\S+) *$/i.exec(given)?.[1]
  if (token !== undefined && isToken(token)) return undefined
  const [message, challenge] =
    given === undefined
      ? ['this server wants a bearer token', 'Bearer']
      : ['the bearer token is wrong', 'Bearer error="invalid_token"']
  return refuse(
    new ToolError('PERMISSION', message, {
      recoverable: true,
      suggestion: {
        fix: 'Send the token of this server',
        example: 'Authorization: Bearer <token>',
        applicability: 'has_placeholders',
      },
    }),
    { status: 401, headers: { 'www-authenticate': challenge }, meta },
  )
}

/** True for names and addresses that only this machine can reach. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?|\[?(0+:){7}0*1\]?)$/i.test(host)
}

function isAllowed(origin: string, origins: readonly string[]): boolean {
  return origins.some(
    (allowed) => allowed === '*' || allowed.toLowerCase() === origin.toLowerCase(),
  )
}

function hostOf(origin: string): string | undefined {
  return /^https?:\/\/([^/@\s]+)$/i.exec(origin)?.[1]?.toLowerCase()
}

function corsHeaders(
  request: HttpRequest,
  { origins = [] }: Guards,
): { readonly [name: string]: string } | undefined {
  const origin = request.header('origin')
  if (origin === undefined || !isAllowed(origin, origins)) return undefined
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': '*',
    vary: 'origin',
  }
}

function isPreflight(request: HttpRequest): boolean {
  return (
    request.method === 'OPTIONS' && request.header('access-control-request-method') !== undefined
  )
}

function preflightHeaders(request: HttpRequest): { readonly [name: string]: string } {
  return {
    'access-control-allow-methods': 'GET, HEAD, POST, DELETE, OPTIONS',
    'access-control-allow-headers': request.header('access-control-request-headers') ?? '*',
    'access-control-max-age': '600',
  }
}
