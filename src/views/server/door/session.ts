import { createHmac, randomBytes } from 'node:crypto'
import type { HttpRequest } from '../../../surfaces/http/exchange.ts'
import { tokenMatcher } from '../../../surfaces/http/guards/token.ts'

/** Who is let in: whoever has the token, or the cookie that it was exchanged for. */
export type Session = {
  /** How a request shows that it may ask; undefined where it does not. */
  shownBy(request: HttpRequest): 'cookie' | 'bearer' | undefined
  /** Whether that is the token, or an invitation that nobody has used yet. */
  accepts(token: string): boolean
  /** What `Set-Cookie` says. */
  cookie(): string
  /** A word that is as good as the token, once and for a minute: whatever is started to open a browser shows its arguments to every user of the machine. */
  invite(): string
}

const INVITATION_MS = 60_000
const INVITATION_BYTES = 24

/** The session of a server. The same token and port give the same cookie, so that pages outlive a restart. `port` is asked when it is known. */
export function createSession(token: string, port: () => number, now: () => number): Session {
  const isToken = tokenMatcher(token)
  const invitations = new Map<string, number>()
  // Cookies do not know ports: every server on this machine that is visited gets it, so it is of use at this port only, and does not tell the token.
  const value = (): string =>
    createHmac('sha256', token).update(`cookie of port ${port()}`).digest('base64url')
  const name = (): string => `toolable_${port()}`
  let matcher: { readonly port: number; readonly matches: (given: string) => boolean } | undefined
  const isCookie = (given: string): boolean => {
    if (matcher?.port !== port()) matcher = { port: port(), matches: tokenMatcher(value()) }
    return matcher.matches(given)
  }
  return {
    shownBy(request) {
      const authorization = request.header('authorization')
      if (authorization !== undefined)
        return isToken(/^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? '') ? 'bearer' : undefined
      return cookiesOf(request, name()).some(isCookie) ? 'cookie' : undefined
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

function cookiesOf(request: HttpRequest, name: string): readonly string[] {
  const pairs = (request.header('cookie') ?? '').split(';').map((pair) => pair.trim())
  return pairs
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
}
