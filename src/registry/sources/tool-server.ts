import { toMilliseconds } from '../../protocol/limits.ts'
import type { Duration } from '../../protocol/limits.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { redactUrl, toHostName } from '../http.ts'
import { expandValues, expandVariables } from '../source.ts'
import type { LoadContext, LoadedSource, ToolSource } from '../source.ts'
import type { ToolServer } from '../tool-server-client.ts'

/**
 * An HTTP server with `GET <url>/list_tools` and `POST <url>/call_tool`. `${NAME}` in `url` and
 * `headers` is replaced from the environment of the host.
 */
export type ToolServerOptions = {
  readonly url: string
  /** Default: its host and port. */
  readonly name?: string
  readonly headers?: { readonly [name: string]: string }
  /** Longest time of a call; default 5 minutes. */
  readonly timeout?: Duration
}

const LIST_TIMEOUT_MS = 10_000
const DEFAULT_CALL_TIMEOUT = '5m'

/** The tools of such a server. */
export function toolServerSource({
  url,
  name = toHostName(url),
  headers,
  timeout = DEFAULT_CALL_TIMEOUT,
}: ToolServerOptions): ToolSource {
  const location = redactUrl(url)
  const what = `tool server '${name}'`
  const read = ({ env }: LoadContext): ToolServer => ({
    name,
    what,
    location,
    url: readServerUrl(expandVariables(url, env, what), what),
    headers: expandValues(headers, env, what),
    listTimeout: LIST_TIMEOUT_MS,
    callTimeout: toMilliseconds(timeout, 'timeout'),
  })
  return {
    name,
    kind: 'tool server',
    location,
    async load(context) {
      try {
        const { listServerTools } = await import('../tool-server-client.ts')
        return await listServerTools(read(context), context.signal)
      } catch (error) {
        return toDeadServer(error, name, location)
      }
    },
  }
}

function readServerUrl(text: string, what: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw new ToolError('CONFIG', `the url of ${what} must begin with http:// or https://`)
  return url
}

function toDeadServer(error: unknown, source: string, location: string): LoadedSource {
  const { message, suggestion, code } = error as ToolError
  return {
    tools: [],
    problems: [
      {
        source,
        location,
        reason: code === 'CONFIG' ? 'config' : 'dead',
        message: String(message ?? error),
        fix: suggestion?.fix ?? `Try it by hand: curl -i ${location}/list_tools`,
        severity: 'error',
      },
    ],
  }
}
