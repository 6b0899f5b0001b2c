/**
 * `createHandler` and `toNode`, the public entry. What they need is loaded with the first request.
 */

import type { Servable } from '../core/provider.ts'
import { checkOptions } from '../define/checks.ts'
import { toMilliseconds } from '../protocol/limits.ts'
import { ToolError } from '../protocol/tool-error.ts'
import type { Handler, HandlerOptions, MountedHandler, NodeHandler } from './options.ts'
import { checkBasePath, checkHost, checkOrigin, checkToken } from './options.ts'

const HANDLER_OPTION_NAMES = [
  'basePath',
  'token',
  'allowedHosts',
  'allowedOrigins',
  'caller',
  'confirm',
  'bodyLimit',
  'timeout',
] as const satisfies readonly (keyof HandlerOptions)[]
const mountedHandlers = new WeakMap<Handler, () => Promise<MountedHandler>>()

/**
 * Makes a toolset an HTTP API for a server of your own: `/tools/<name>`, `/mcp`, `/openapi.json`.
 * Throws CONFIG for options that cannot work.
 */
export function createHandler(set: Servable, options: HandlerOptions = {}): Handler {
  if (typeof set?.find !== 'function')
    throw new ToolError('CONFIG', 'createHandler() takes what toolset() or registry() made')
  checkHandlerOptions(options)
  let loaded: Promise<MountedHandler> | undefined
  const load = (): Promise<MountedHandler> =>
    (loaded ??= import('./handler.ts').then(({ mountHandler }) => mountHandler(set, options)))
  const handler: Handler = async (request) => (await load()).fetch(request)
  mountedHandlers.set(handler, load)
  return handler
}

/**
 * Makes a fetch handler a listener for node:http and Express. One that `createHandler` made is
 * served without Request and Response in between.
 */
export function toNode(handler: Handler): NodeHandler {
  if (typeof handler !== 'function') throw new ToolError('CONFIG', 'toNode() takes a fetch handler')
  let listener: NodeHandler | undefined
  const load = async (): Promise<NodeHandler> =>
    (await import('./to-node.ts')).createNodeHandler(
      handler,
      await mountedHandlers.get(handler)?.(),
    )
  return (request, response, next) => {
    if (listener) return listener(request, response, next)
    // Nothing of the request is read while this loads.
    load().then(
      (ready) => {
        listener = ready
        ready(request, response, next)
      },
      next ?? (() => response.destroy()),
    )
  }
}

function checkHandlerOptions(options: HandlerOptions): void {
  checkOptions('createHandler()', options, HANDLER_OPTION_NAMES)
  const { basePath, token, allowedHosts, allowedOrigins, timeout, bodyLimit } = options
  checkBasePath(basePath)
  if (token !== undefined) checkToken(token)
  allowedHosts?.forEach(checkHost)
  allowedOrigins?.forEach(checkOrigin)
  if (timeout !== undefined) toMilliseconds(timeout, 'timeout')
  if (bodyLimit !== undefined && !(Number.isInteger(bodyLimit) && bodyLimit > 0))
    throw new ToolError('CONFIG', `bodyLimit is a number of bytes above 0; got ${bodyLimit}`)
}
