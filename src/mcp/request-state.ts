/**
 * Signs the state that clients carry between two rounds of one call. Loads node:crypto, so it is
 * loaded on first use.
 */

import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { toStableJson } from '../util/values.ts'
import { RPC_CODES, RpcError } from './protocol.ts'

/** What a state names. */
export type StateClaims = {
  readonly call: string
  readonly round: number
  readonly expires: number
}

/** Signs the states that clients carry between two rounds of one call. */
export type StateSigner = {
  sign(claims: StateClaims): string
  /** Throws for a state that is not ours or too old. */
  verify(state: unknown, now: number): StateClaims
}

/** A signer with a key of its own: states of another process are refused. */
export function createStateSigner(): StateSigner {
  const secret = randomBytes(32)
  const mac = (payload: string): Buffer => createHmac('sha256', secret).update(payload).digest()
  return {
    sign(claims) {
      const payload = Buffer.from(JSON.stringify(claims)).toString('base64url')
      return `${payload}.${mac(payload).toString('base64url')}`
    },
    verify(state, now) {
      const [payload = '', signature = '', ...more] =
        typeof state === 'string' ? state.split('.') : []
      const given = Buffer.from(signature, 'base64url')
      const expected = mac(payload)
      // Decoding is lenient, so the text is compared too: what was changed in any way is refused.
      if (
        more.length > 0 ||
        given.length !== expected.length ||
        !timingSafeEqual(given, expected) ||
        expected.toString('base64url') !== signature
      ) {
        throw new RpcError(
          RPC_CODES.invalidParams,
          'the requestState is not one of this server: it was changed, or the server was started anew; make the call again without it',
        )
      }
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as StateClaims
      if (claims.expires < now)
        throw new RpcError(
          RPC_CODES.invalidParams,
          'the requestState is too old; make the call again without it',
        )
      return claims
    },
  }
}

/** An id that cannot be guessed. */
export function createSecretId(): string {
  return randomBytes(16).toString('hex')
}

/** Hashes what a request is about: a state is good for the same request only. */
export function hashRequest(method: string, subject: unknown): string {
  return createHash('sha256')
    .update(method)
    .update('\0')
    .update(toStableJson(subject))
    .digest('base64url')
}
