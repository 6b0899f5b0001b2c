import { expect } from 'vitest'
import { requestText, sendRaw } from '../../../http/support/raw.ts'
import type { RawAnswer } from '../../../http/support/raw.ts'

export type Headers = { readonly [name: string]: string | number }

/**
 * One request over a connection of its own, with exactly these headers besides Host; a Host of ''
 * is none.
 */
export function ask(
  port: number,
  method: string,
  path: string,
  headers: Headers = {},
  body = '',
): Promise<RawAnswer> {
  return sendRaw(port, [
    requestText(method, path, { host: `127.0.0.1:${port}`, connection: 'close', ...headers }, body),
  ])
}

/** The cookie that the token is exchanged for: `name=value`. */
export async function cookieFor(port: number, token: string): Promise<string> {
  const { headers } = await ask(port, 'GET', `/?token=${token}`)
  return headers['set-cookie']!.split(';')[0]!
}

/** What every answer has to carry, whatever it is about. */
export const SAFE = {
  'content-security-policy': expect.stringMatching(
    /^default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'(; sandbox)?$/,
  ) as string,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}
