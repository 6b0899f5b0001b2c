/**
 * Public types of `createHandler`, and checks of the options that servers and handlers share.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { CallOptions } from '../core/call.ts'
import type { Duration } from '../protocol/limits.ts'
import { ToolError } from '../protocol/tool-error.ts'
import type { HttpApp } from './exchange.ts'

/**
 * A base path in the form that `cutBasePath` takes: empty, or `/x` without a slash at the end.
 * Throws CONFIG for anything that is no path.
 */
export function checkBasePath(given: string | undefined): string {
  const base = (given ?? '').replace(/\/+$/, '')
  if (base === '' || /^(?:\/[\w.~!$&'()*+,;=:@%-]+)+$/.test(base)) return base
  throw new ToolError(
    'CONFIG',
    `'${given}' is no base path: it begins with a slash and has no spaces, ? or #`,
    { field: 'base-path', suggestion: { fix: 'Give a path', example: '/api' } },
  )
}

/** A name for the Host header, in lower case, with or without a port; throws CONFIG. */
export function checkHost(given: string): string {
  const host = given.toLowerCase()
  if (/^(\[[\da-f:.]+\]|[\w.-]+)(:\d+)?$/.test(host)) return host
  throw new ToolError('CONFIG', `'${given}' is no name for the Host header`, {
    field: 'allowed-host',
    suggestion: { fix: 'Give the name alone, or with its port', example: 'tools.example.com' },
  })
}

/** The origin of a page, or `*`; throws CONFIG. */
export function checkOrigin(given: string): string {
  if (given === '*' || /^https?:\/\/[^/?#\s]+$/i.test(given)) return given
  throw new ToolError('CONFIG', `'${given}' is no origin`, {
    field: 'allowed-origin',
    suggestion: { fix: 'Give scheme and host, without a path', example: 'https://app.example.com' },
  })
}

/** A bearer token: one word; throws CONFIG. */
export function checkToken(given: string): string {
  if (/^[\x21-\x7e]+$/.test(given)) return given
  throw new ToolError(
    'CONFIG',
    given.trim() === '' ? 'the token is empty' : 'the token is not one word of plain characters',
    {
      field: 'token',
      suggestion: { fix: 'Take a long random word', example: 'openssl rand -hex 32' },
    },
  )
}

export type HandlerOptions = {
  /**
   * The part of the path in front of `/tools`, where the server around does not cut it off: `/api`.
   */
  readonly basePath?: string
  /**
   * A bearer token that every request has to carry; without it whoever reaches the handler may
   * call.
   */
  readonly token?: string
  /** Names that the Host header may carry; without them it is not looked at. */
  readonly allowedHosts?: readonly string[]
  /**
   * Origins of pages that may call, besides loopback and the server's own; they get CORS headers.
   */
  readonly allowedOrigins?: readonly string[]
  /** Who calls, where the request does not say it by `Toolable-Caller`. */
  readonly caller?: string
  /**
   * Consent to destructive tools where a request has no `Toolable-Confirm: yes`; a function is
   * asked. Default false.
   */
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

/**
 * What stands behind a handler: the app, for adapters that need no Request, and the web-standard
 * form of it.
 */
export type MountedHandler = {
  readonly app: HttpApp
  readonly basePath: string
  readonly fetch: Handler
}
