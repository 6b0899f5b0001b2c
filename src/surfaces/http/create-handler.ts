import { toMilliseconds } from '../../contract/duration.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { checkOptions } from '../../define/names.ts'
import type { Servable } from '../../call/servable.ts'
import { checkBasePath, checkHost, checkOrigin, checkToken } from './check-options.ts'
import type { Handler, HandlerOptions, Mounted, NodeHandler } from './handler-type.ts'

const OPTIONS = [
  'basePath',
  'token',
  'allowedHosts',
  'allowedOrigins',
  'caller',
  'confirm',
  'bodyLimit',
  'timeout',
] as const satisfies readonly (keyof HandlerOptions)[]
const mounted = new WeakMap<Handler, () => Promise<Mounted>>()

/** Makes a toolset an HTTP API for a server of your own: `/tools/<name>`, `/mcp`, `/openapi.json`. Throws CONFIG for options that cannot work. */
export function createHandler(set: Servable, options: HandlerOptions = {}): Handler {
  if (typeof set?.find !== 'function')
    throw new ToolError('CONFIG', 'createHandler() takes what toolset() or registry() made')
  check(options)
  let loaded: Promise<Mounted> | undefined
  const load = (): Promise<Mounted> =>
    (loaded ??= import('./handler.ts').then(({ mount }) => mount(set, options)))
  const handler: Handler = async (request) => (await load()).fetch(request)
  mounted.set(handler, load)
  return handler
}

/** Makes a fetch handler a listener for node:http and Express. One that `createHandler` made is served without Request and Response in between. */
export function toNode(handler: Handler): NodeHandler {
  if (typeof handler !== 'function') throw new ToolError('CONFIG', 'toNode() takes a fetch handler')
  let listener: NodeHandler | undefined
  const load = async (): Promise<NodeHandler> =>
    (await import('./node/to-node.ts')).nodeHandler(handler, await mounted.get(handler)?.())
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

function check(options: HandlerOptions): void {
  checkOptions('createHandler()', options, OPTIONS)
  const { basePath, token, allowedHosts, allowedOrigins, timeout, bodyLimit } = options
  checkBasePath(basePath)
  if (token !== undefined) checkToken(token)
  allowedHosts?.forEach(checkHost)
  allowedOrigins?.forEach(checkOrigin)
  if (timeout !== undefined) toMilliseconds(timeout, 'timeout')
  if (bodyLimit !== undefined && !(Number.isInteger(bodyLimit) && bodyLimit > 0))
    throw new ToolError('CONFIG', `bodyLimit is a number of bytes above 0; got ${bodyLimit}`)
}
