import { toMilliseconds } from '../../contract/duration.ts'
import type { Duration } from '../../contract/duration.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { expandValues, expandVariables } from '../expand-variables.ts'
import type { Loaded } from '../found.ts'
import { placeName, shownAddress } from '../http/place-name.ts'
import type { LoadContext, Source } from '../source.ts'
import type { ToolServer } from '../tool-server/server.ts'

/** An HTTP server with `GET <url>/list_tools` and `POST <url>/call_tool`. `${NAME}` in `url` and `headers` is replaced from the environment of the host. */
export type ToolServerOptions = {
  readonly url: string
  /** Default: its host and port. */
  readonly name?: string
  readonly headers?: { readonly [name: string]: string }
  /** Longest time of a call; default 5 minutes. */
  readonly timeout?: Duration
}

const LIST_TIMEOUT = 10_000
const CALL_TIMEOUT = '5m'

/** The tools of such a server. */
export function toolServerSource({
  url,
  name = placeName(url),
  headers,
  timeout = CALL_TIMEOUT,
}: ToolServerOptions): Source {
  const location = shownAddress(url)
  const what = `tool server '${name}'`
  const read = ({ env }: LoadContext): ToolServer => ({
    name,
    what,
    location,
    url: readUrl(expandVariables(url, env, what), what),
    headers: expandValues(headers, env, what),
    listTimeout: LIST_TIMEOUT,
    callTimeout: toMilliseconds(timeout, 'timeout'),
  })
  return {
    name,
    kind: 'tool server',
    location,
    async load(context) {
      try {
        const { listTools } = await import('../tool-server/list.ts')
        return await listTools(read(context), context.signal)
      } catch (error) {
        return dead(error, name, location)
      }
    },
  }
}

function readUrl(text: string, what: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw new ToolError('CONFIG', `the url of ${what} must begin with http:// or https://`)
  return url
}

function dead(error: unknown, source: string, location: string): Loaded {
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
