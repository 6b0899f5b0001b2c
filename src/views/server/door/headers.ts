import type { HttpAnswer } from '../../../surfaces/http/exchange.ts'

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

/** What every answer of the dashboard carries, whatever it is about: nothing from outside is loaded, nothing is guessed, and no page of others gets hold of it. */
export const SAFE_HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const

/** The policy of what a tool has made: besides, it runs nothing and belongs to no origin, should it ever be shown. */
export const ATTACHMENT_POLICY = `${POLICY}; sandbox`

/** The answer with these headers; what it says itself about one of them stays. */
export function withSafeHeaders(answer: HttpAnswer): HttpAnswer {
  return { ...answer, headers: { ...SAFE_HEADERS, ...answer.headers } }
}
