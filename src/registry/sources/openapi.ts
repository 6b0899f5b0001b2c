import { toMilliseconds } from '../../protocol/limits.ts'
import type { Duration } from '../../protocol/limits.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { compact, isObject } from '../../util/values.ts'
import type { JsonObject } from '../../util/values.ts'
import { redactUrl, toHostName } from '../http.ts'
import { toValidName } from '../names.ts'
import { expandValues, expandVariables } from '../source.ts'
import type { ToolSource } from '../source.ts'

/**
 * An API that an OpenAPI 3 document describes. `${NAME}` in `document`, `baseUrl` and `headers` is
 * replaced from the environment of the host.
 */
export type OpenApiSourceOptions = {
  /** A path, an address, or the document itself. */
  readonly document: string | JsonObject
  /** Default: the title of the document, or the name of its file or host. */
  readonly name?: string
  /** Where the API is; default: as the document says. */
  readonly baseUrl?: string
  /** Sent with each call: the credentials. */
  readonly headers?: { readonly [name: string]: string }
  /** Longest time of a call; default 5 minutes. */
  readonly timeout?: Duration
}

const DEFAULT_CALL_TIMEOUT = '5m'

/** The operations of the API, each a tool. */
export function openApiSource({
  document,
  name = toApiName(document),
  baseUrl,
  headers,
  timeout = DEFAULT_CALL_TIMEOUT,
}: OpenApiSourceOptions): ToolSource {
  const location = typeof document === 'string' ? redactUrl(document) : 'an object'
  const who = `API '${name}'`
  return {
    name,
    kind: 'openapi',
    location,
    async load(context) {
      try {
        const [{ readApiDocument }, { findApiTools }] = await Promise.all([
          import('../openapi/document.ts'),
          import('../openapi/operations.ts'),
        ])
        const own = expandValues(headers, context.env, who)
        const base =
          baseUrl === undefined
            ? undefined
            : readBaseUrl(expandVariables(baseUrl, context.env, who), who)
        const place =
          typeof document === 'string' ? expandVariables(document, context.env, who) : document
        const isTheirs =
          base === undefined ||
          (typeof place === 'string' &&
            URL.canParse(place) &&
            new URL(place).origin === base.origin)
        const read = await readApiDocument(place, isTheirs ? own : {}, context, who)
        return findApiTools(read.document, compact({ from: read.from, baseUrl: base }), {
          name,
          who,
          location,
          headers: own,
          timeout: toMilliseconds(timeout, 'timeout'),
        })
      } catch (error) {
        const { message, suggestion, code } = error as ToolError
        return {
          tools: [],
          problems: [
            {
              source: name,
              location,
              reason: code === 'DEPENDENCY' || code === 'TIMEOUT' ? 'dead' : 'document',
              message: String(message ?? error),
              fix: suggestion?.fix ?? 'Mend the document',
              severity: 'error',
            },
          ],
        }
      }
    },
  }
}

function toApiName(document: string | JsonObject): string {
  if (typeof document === 'string')
    return /^https?:/i.test(document)
      ? toHostName(document)
      : toValidName(document.replace(/^.*[/\\]/, '').replace(/\.[^.]*$/, ''))
  const title = isObject(document['info']) ? document['info']['title'] : undefined
  return typeof title === 'string' ? toValidName(title) : 'api'
}

function readBaseUrl(text: string, who: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw new ToolError('CONFIG', `the baseUrl of ${who} must begin with http:// or https://`)
  return url
}
