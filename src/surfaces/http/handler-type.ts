import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duration } from '../../contract/duration.ts'
import type { CallOptions } from '../../call/options.ts'
import type { HttpApp } from './exchange.ts'

export type HandlerOptions = {
  /** The part of the path in front of `/tools`, where the server around does not cut it off: `/api`. */
  readonly basePath?: string
  /** A bearer token that every request has to carry; without it whoever reaches the handler may call. */
  readonly token?: string
  /** Names that the Host header may carry; without them it is not looked at. */
  readonly allowedHosts?: readonly string[]
  /** Origins of pages that may call, besides loopback and the server's own; they get CORS headers. */
  readonly allowedOrigins?: readonly string[]
  /** Who calls, where the request does not say it by `Toolable-Caller`. */
  readonly caller?: string
  /** Consent to destructive tools where a request has no `Toolable-Confirm: yes`; a function is asked. Default false. */
  readonly confirm?: NonNullable<CallOptions['confirm']>
  /** Bytes that a body may have; default 4 MiB. */
  readonly bodyLimit?: number
  /** Longest time a call may take; a request may ask for less. */
  readonly timeout?: Duration
}

/** A web-standard fetch handler. */
export type Handler = (request: Request) => Promise<Response>

/** A listener for node:http and Express. */
export type NodeHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void

/** What stands behind a handler: the app, for adapters that need no Request, and the web-standard form of it. */
export type Mounted = { readonly app: HttpApp; readonly basePath: string; readonly fetch: Handler }
