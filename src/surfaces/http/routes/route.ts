import type { Servable } from '../../../call/servable.ts'
import type { CallDefaults } from '../call-options.ts'
import type { HttpAnswer, HttpApp, HttpRequest } from '../exchange.ts'

export type AppOptions = {
  readonly call?: CallDefaults
  /** Bytes that a body may have; default 4 MiB. */
  readonly bodyLimit?: number
  /** Where the app is mounted, as far as it is known; shown in the OpenAPI document. */
  readonly basePath?: string
  /** Says in the OpenAPI document that a token is wanted; guards check it. */
  readonly token?: boolean
  /** Answers `/mcp`. */
  readonly mcp?: HttpApp
  /** Milliseconds of silence after which a stream says that it is alive. */
  readonly keepAlive?: number
}

/** One request with what it is about. */
export type Exchange = {
  readonly request: HttpRequest
  readonly set: Servable
  readonly options: AppOptions
}

export type Answerer = (exchange: Exchange) => HttpAnswer | Promise<HttpAnswer>

/** What can be done at one path, by method; HEAD comes with GET. */
export type Route = { readonly GET?: Answerer; readonly POST?: Answerer }

/** Finds the route of the path segments behind the first; undefined where there is none. */
export type FindRoute = (segments: readonly string[]) => Route | undefined

export const BODY_LIMIT = 4 * 1024 * 1024
