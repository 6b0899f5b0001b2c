/**
 * Checks of Host, Origin and bearer token in front of an app, and CORS headers.
 */

import { ToolError } from '../protocol/tool-error.ts'
import { compact } from '../util/values.ts'
import type { HttpApp, HttpRequest, HttpResponse, RefusalOptions } from './exchange.ts'
import { formatHost, toRefusalResponse } from './exchange.ts'
import { checkHost, checkOrigin, checkToken } from './options.ts'

/** What a request has to show before it is looked at. What is absent is not checked. */
type HttpGuards = {
  /** Names that the Host header may carry, with or without a port. */
  readonly hosts?: readonly string[]
  /**
   * Origins besides loopback and the server's own; they are answered with CORS headers too. `*` is
   * any.
   */
  readonly origins?: readonly string[]
  /** Tells whether a bearer token is the right one. */
  readonly isToken?: (given: string) => boolean
}

/** Names of this machine that no other page can have. */
const LOOPBACK_HOSTS = ['localhost', '127.0.0.1', '[::1]'] as const

/**
 * Puts guards in front of an app: Host and Origin (403), CORS for allowed origins, then the token
 * (401).
 */
export function withGuards(
  app: HttpApp,
  guards: HttpGuards,
  meta: RefusalOptions['meta'] = { tool: '' },
): HttpApp {
  // Clients ask under one name again and again.
  let lastHost: string | undefined
  return async (request) => {
    const host = request.header('host')
    const problem =
      (host !== undefined && host === lastHost ? undefined : findHostProblem(request, guards)) ??
      findOriginProblem(request, guards)
    if (problem) return toRefusalResponse(problem, { meta })
    lastHost = host
    const shared = getCorsHeaders(request, guards)
    if (shared && isPreflight(request))
      return { status: 204, headers: { ...shared, ...getPreflightHeaders(request) } }
    const answer = refuseBadToken(request, guards, meta) ?? (await app(request))
    return shared ? { ...answer, headers: { ...answer.headers, ...shared } } : answer
  }
}

/**
 * Refuses a Host that was not allowed: a page elsewhere may have given its own name our address.
 */
function findHostProblem(request: HttpRequest, { hosts }: HttpGuards): ToolError | undefined {
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
function findOriginProblem(
  request: HttpRequest,
  { origins = [] }: HttpGuards,
): ToolError | undefined {
  const given = request.header('origin')
  if (given === undefined || isAllowedOrigin(given, origins)) return undefined
  const host = getOriginHost(given)
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
function refuseBadToken(
  request: HttpRequest,
  { isToken }: HttpGuards,
  meta: RefusalOptions['meta'] = { tool: '' },
): HttpResponse | undefined {
  if (!isToken) return undefined
  const given = request.header('authorization')
  const token = given === undefined ? undefined : /^bearer +(\S+) *$/i.exec(given)?.[1]
  if (token !== undefined && isToken(token)) return undefined
  const [message, challenge] =
    given === undefined
      ? ['this server wants a bearer token', 'Bearer']
      : ['the bearer token is wrong', 'Bearer error="invalid_token"']
  return toRefusalResponse(
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

function isAllowedOrigin(origin: string, origins: readonly string[]): boolean {
  return origins.some(
    (allowed) => allowed === '*' || allowed.toLowerCase() === origin.toLowerCase(),
  )
}

function getOriginHost(origin: string): string | undefined {
  return /^https?:\/\/([^/@\s]+)$/i.exec(origin)?.[1]?.toLowerCase()
}

function getCorsHeaders(
  request: HttpRequest,
  { origins = [] }: HttpGuards,
): { readonly [name: string]: string } | undefined {
  const origin = request.header('origin')
  if (origin === undefined || !isAllowedOrigin(origin, origins)) return undefined
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

function getPreflightHeaders(request: HttpRequest): { readonly [name: string]: string } {
  return {
    'access-control-allow-methods': 'GET, HEAD, POST, DELETE, OPTIONS',
    'access-control-allow-headers': request.header('access-control-request-headers') ?? '*',
    'access-control-max-age': '600',
  }
}

/** Who may ask, as an operator configures it. */
export type HttpGuardOptions = {
  readonly token?: string
  /** Names for the Host header: `tools.example.com`, or with a port. */
  readonly allowedHosts?: readonly string[]
  /** Origins of pages: `https://app.example.com`. */
  readonly allowedOrigins?: readonly string[]
}

/**
 * The guards of a server that binds `host`: loopback names only on loopback, a token beyond it.
 * Throws CONFIG where the token is missing.
 */
export async function createServerGuards(
  host: string,
  options: HttpGuardOptions,
): Promise<HttpGuards> {
  const loopback = isLoopback(host)
  if (!loopback && options.token === undefined) {
    throw new ToolError(
      'CONFIG',
      `${host} can be reached from other machines, so the server needs a token`,
      {
        field: 'token-file',
        suggestion: {
          fix: 'Write a token to a file that only you can read and start with --token-file token.txt, or bind 127.0.0.1',
          example: '(umask 077; openssl rand -hex 32 > token.txt)',
        },
      },
    )
  }
  const guards = await createGuards(options)
  // Beyond loopback the token keeps pages of strangers out, whatever name they gave our address.
  if (!loopback && !guards.hosts) return guards
  return {
    ...guards,
    hosts: [
      ...new Set([
        ...LOOPBACK_HOSTS,
        ...(loopback ? [formatHost(host).toLowerCase()] : []),
        ...(guards.hosts ?? []),
      ]),
    ],
  }
}

/**
 * The guards of a handler in somebody else's server: Host is checked only where names are given.
 */
export async function createGuards({
  token,
  allowedHosts,
  allowedOrigins,
}: HttpGuardOptions): Promise<HttpGuards> {
  return compact({
    isToken:
      token !== undefined
        ? (await import('./token.ts')).createTokenMatcher(checkToken(token))
        : undefined,
    hosts: allowedHosts ? allowedHosts.map(checkHost) : undefined,
    origins: allowedOrigins ? allowedOrigins.map(checkOrigin) : undefined,
  })
}
