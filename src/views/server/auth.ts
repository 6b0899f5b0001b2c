/**
 * Who may use the dashboard: address and origin checks, the token and its cookie, and the headers
 * that every response carries.
 */

import { createHmac, randomBytes } from 'node:crypto'
import { toRefusalResponse } from '../../http/exchange.ts'
import type { HttpRequest, HttpResponse } from '../../http/exchange.ts'
import { createTokenMatcher } from '../../http/token.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { compact } from '../../util/values.ts'

/** Access control: the token, or the cookie it was exchanged for. */
export type DashboardSession = {
  /** How a request shows that it may ask; undefined where it does not. */
  authenticate(request: HttpRequest): 'cookie' | 'bearer' | undefined
  /** Whether this is the token or an unused invitation. */
  accepts(token: string): boolean
  /** What `Set-Cookie` says. */
  cookie(): string
  /**
   * A one-time replacement for the token, valid for a minute: the arguments of the process that
   * opens a browser are visible to every user of the machine.
   */
  invite(): string
}

const INVITATION_MS = 60_000
const INVITATION_BYTES = 24

/**
 * The session of a server. The same token and port give the same cookie, so that pages outlive a
 * restart. `port` is asked when it is known.
 */
export function createSession(
  token: string,
  port: () => number,
  now: () => number,
): DashboardSession {
  const isToken = createTokenMatcher(token)
  const invitations = new Map<string, number>()
  // Cookies do not know ports: every server on this machine that is visited gets it, so it is of
  // use at this port only, and does not tell the token.
  const value = (): string =>
    createHmac('sha256', token).update(`cookie of port ${port()}`).digest('base64url')
  const name = (): string => `toolable_${port()}`
  let matcher: { readonly port: number; readonly matches: (given: string) => boolean } | undefined
  const isCookie = (given: string): boolean => {
    if (matcher?.port !== port()) matcher = { port: port(), matches: createTokenMatcher(value()) }
    return matcher.matches(given)
  }
  return {
    authenticate(request) {
      const authorization = request.header('authorization')
      if (authorization !== undefined)
        return isToken(/^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? '') ? 'bearer' : undefined
      return listCookies(request, name()).some(isCookie) ? 'cookie' : undefined
    },
    accepts(given) {
      const until = invitations.get(given)
      invitations.delete(given)
      return isToken(given) || (until !== undefined && now() < until)
    },
    cookie: () => `${name()}=${value()}; HttpOnly; SameSite=Strict; Path=/`,
    invite() {
      const invitation = randomBytes(INVITATION_BYTES).toString('base64url')
      invitations.set(invitation, now() + INVITATION_MS)
      return invitation
    },
  }
}

function listCookies(request: HttpRequest, name: string): readonly string[] {
  const pairs = (request.header('cookie') ?? '').split(';').map((pair) => pair.trim())
  return pairs
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
}

/**
 * Answers an address with `?token=…`: sends the browser to the same page without it, with the
 * cookie where the token is right. Undefined where there is no token, or a wrong one of somebody
 * who is not known.
 */
export function exchangeToken(
  request: HttpRequest,
  session: DashboardSession,
): HttpResponse | undefined {
  const query = new URLSearchParams(request.search)
  const token = query.get('token')
  if (token === null || request.method !== 'GET') return undefined
  const isRight = session.accepts(token)
  // An address of yesterday, in a browser that was let in today.
  if (!isRight && session.authenticate(request) === undefined) return undefined
  query.delete('token')
  const search = query.toString()
  // The whole address: a path that begins with two slashes would lead to another server.
  const location = `http://${request.header('host')!}${request.path}${search === '' ? '' : `?${search}`}`
  return {
    status: 303,
    headers: compact({
      location,
      'cache-control': 'no-store',
      'set-cookie': isRight ? session.cookie() : undefined,
    }),
  }
}

const DEFAULT_PORT = 80
const HOST_NAMES = ['127.0.0.1', 'localhost'] as const

/**
 * Refuses a request that is meant for another server, or that a page of another server has made;
 * undefined for one of ours.
 */
export function checkAddress(
  request: HttpRequest,
  port: number,
  isPage: boolean,
): ToolError | undefined {
  const host = (request.header('host') ?? '').toLowerCase()
  // A page elsewhere may have given its own name our address.
  if (!listHosts(port).includes(host))
    return createRefusal(
      `the Host '${host.slice(0, 100)}' is not served here`,
      `Open http://127.0.0.1:${port}/`,
    )
  const origin = request.header('origin')
  if (origin !== undefined && origin.toLowerCase() !== `http://${host}`)
    return createRefusal(
      `pages of '${origin.slice(0, 100)}' may not use this dashboard`,
      'Use the dashboard in a tab of its own',
    )
  return checkSite(request, isPage)
}

// Other ports of this machine are the same site to a browser: such a page may link to ours, and do
// nothing else.
function checkSite(request: HttpRequest, isPage: boolean): ToolError | undefined {
  const site = request.header('sec-fetch-site')
  if (site === undefined || site === 'same-origin' || site === 'none') return undefined
  if (site === 'same-site' && isPage && request.header('sec-fetch-mode') === 'navigate')
    return undefined
  return createRefusal(
    'a page of another server has made this request',
    'Open the address of the dashboard in a tab of its own',
  )
}

function listHosts(port: number): readonly string[] {
  return HOST_NAMES.flatMap((name) => [`${name}:${port}`, ...(port === DEFAULT_PORT ? [name] : [])])
}

function createRefusal(message: string, fix: string): ToolError {
  return new ToolError('PERMISSION', message, { suggestion: { action: 'abort', fix } })
}

const CONTENT_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

/**
 * Headers of every response: nothing is loaded from outside, no type is guessed, and no other page
 * can embed it.
 */
export const SECURITY_HEADERS = {
  'content-security-policy': CONTENT_POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const

/**
 * The policy of what a tool has made: besides, it runs nothing and belongs to no origin, should it
 * ever be shown.
 */
export const ATTACHMENT_POLICY = `${CONTENT_POLICY}; sandbox`

/** The answer with these headers; what it says itself about one of them stays. */
export function addSecurityHeaders(answer: HttpResponse): HttpResponse {
  return { ...answer, headers: { ...SECURITY_HEADERS, ...answer.headers } }
}

const TOKEN_FIX = 'Open the address that toolable ui has printed: it carries the key'
const AUTH_CHALLENGE = { 'www-authenticate': 'Bearer' } as const

const LOCKED_PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>toolable: locked</title></head>
<body>
<h1>This dashboard is locked</h1>
<p>Open the address that <code>toolable ui</code> has printed: it ends in <code>?token=…</code> and lets this browser in.</p>
<p>It is printed each time that <code>toolable ui</code> is started in the project.</p>
</body>
</html>
`

/**
 * What a person sees who came without the token: where it is. No script, no style, nothing of the
 * project.
 */
export function createLockedPage(): HttpResponse {
  return {
    status: 401,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      ...AUTH_CHALLENGE,
    },
    body: LOCKED_PAGE,
  }
}

/** What a program gets that came without the token. */
export function createUnauthorizedResponse(): HttpResponse {
  return toRefusalResponse(
    new ToolError('PERMISSION', 'this dashboard wants its token', {
      recoverable: true,
      suggestion: {
        fix: `${TOKEN_FIX}; programs send it`,
        example: 'Authorization: Bearer <token>',
        applicability: 'has_placeholders',
      },
    }),
    { status: 401, headers: AUTH_CHALLENGE, meta: { tool: 'dashboard' } },
  )
}
