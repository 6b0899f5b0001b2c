import type { HttpAnswer, HttpRequest } from '../../../surfaces/http/exchange.ts'
import type { Session } from './session.ts'

/** Answers an address with `?token=…`: sends the browser to the same page without it, with the cookie where the token is right. Undefined where there is no token, or a wrong one of somebody who is not known. */
export function exchangeToken(request: HttpRequest, session: Session): HttpAnswer | undefined {
  const query = new URLSearchParams(request.search)
  const token = query.get('token')
  if (token === null || request.method !== 'GET') return undefined
  const isRight = session.accepts(token)
  // An address of yesterday, in a browser that was let in today.
  if (!isRight && session.shownBy(request) === undefined) return undefined
  query.delete('token')
  const search = query.toString()
  // The whole address: a path that begins with two slashes would lead to another server.
  const location = `http://${request.header('host')!}${request.path}${search === '' ? '' : `?${search}`}`
  return {
    status: 303,
    headers: {
      location,
      'cache-control': 'no-store',
      ...(isRight && { 'set-cookie': session.cookie() }),
    },
  }
}
