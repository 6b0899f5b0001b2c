import { ToolError } from '../../../contract/tool-error.ts'
import type { HttpRequest } from '../../../surfaces/http/exchange.ts'

const DEFAULT_PORT = 80
const NAMES = ['127.0.0.1', 'localhost'] as const

/** Refuses a request that is meant for another server, or that a page of another server has made; undefined for one of ours. */
export function addressProblem(
  request: HttpRequest,
  port: number,
  isPage: boolean,
): ToolError | undefined {
  const host = (request.header('host') ?? '').toLowerCase()
  // A page elsewhere may have given its own name our address.
  if (!hostsOf(port).includes(host))
    return refused(
      `the Host '${host.slice(0, 100)}' is not served here`,
      `Open http://127.0.0.1:${port}/`,
    )
  const origin = request.header('origin')
  if (origin !== undefined && origin.toLowerCase() !== `http://${host}`)
    return refused(
      `pages of '${origin.slice(0, 100)}' may not use this dashboard`,
      'Use the dashboard in a tab of its own',
    )
  return siteProblem(request, isPage)
}

// Other ports of this machine are the same site to a browser: such a page may link to ours, and do nothing else.
function siteProblem(request: HttpRequest, isPage: boolean): ToolError | undefined {
  const site = request.header('sec-fetch-site')
  if (site === undefined || site === 'same-origin' || site === 'none') return undefined
  if (site === 'same-site' && isPage && request.header('sec-fetch-mode') === 'navigate')
    return undefined
  return refused(
    'a page of another server has made this request',
    'Open the address of the dashboard in a tab of its own',
  )
}

function hostsOf(port: number): readonly string[] {
  return NAMES.flatMap((name) => [`${name}:${port}`, ...(port === DEFAULT_PORT ? [name] : [])])
}

function refused(message: string, fix: string): ToolError {
  return new ToolError('PERMISSION', message, { suggestion: { action: 'abort', fix } })
}
