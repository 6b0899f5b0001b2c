/**
 * An API that an OpenAPI 3 document describes.
 */

import { toToolError } from '../../core/errors.ts'
import type { Duration } from '../../protocol/limits.ts'
import { toMilliseconds } from '../../protocol/limits.ts'
import type { JsonObject } from '../../util/values.ts'
import { asObject, asText, compact } from '../../util/values.ts'
import { redactUrl, requireHttpUrl, toHostName } from '../http.ts'
import { toValidName } from '../names.ts'
import { readApiDocument } from '../openapi/document.ts'
import { findApiTools } from '../openapi/operations.ts'
import type { ToolSource } from '../source.ts'
import { expandValues, expandVariables, toBrokenSource } from '../source.ts'

/**
 * An API that an OpenAPI 3 document describes. `${NAME}` in `document`, `baseUrl` and `headers` is
 * replaced from the environment of the host.
 */
export type OpenApiOptions = {
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

/** Opens an API: each of its operations is a tool. An object with the key `openapi` is a document. */
export function openSource(item: OpenApiOptions | JsonObject): ToolSource {
  const {
    document,
    name = toApiName(document),
    baseUrl,
    headers,
    timeout = DEFAULT_CALL_TIMEOUT,
  } = toOptions(item)
  const location = typeof document === 'string' ? redactUrl(document) : 'an object'
  const who = `API '${name}'`
  return {
    name,
    kind: 'openapi',
    location,
    async load(context) {
      try {
        const own = expandValues(headers, context.env, who)
        const base =
          baseUrl === undefined
            ? undefined
            : requireHttpUrl(expandVariables(baseUrl, context.env, who), `baseUrl of ${who}`)
        const place =
          typeof document === 'string' ? expandVariables(document, context.env, who) : document
        const isTheirs = base === undefined || isAtOrigin(place, base.origin)
        const read = await readApiDocument(place, isTheirs ? own : {}, context, who)
        return findApiTools(read.document, compact({ from: read.from, baseUrl: base }), {
          name,
          who,
          location,
          headers: own,
          timeoutMs: toMilliseconds(timeout, 'timeout'),
        })
      } catch (error) {
        const { code, message, suggestion } = toToolError(error)
        const reason = code === 'DEPENDENCY' || code === 'TIMEOUT' ? 'dead' : 'document'
        return toBrokenSource(
          name,
          location,
          reason,
          message,
          suggestion?.fix ?? 'Mend the document',
        )
      }
    },
  }
}

function isAtOrigin(place: string | JsonObject, origin: string): boolean {
  return typeof place === 'string' && URL.canParse(place) && new URL(place).origin === origin
}

function toOptions(item: OpenApiOptions | JsonObject): OpenApiOptions {
  return Object.hasOwn(item, 'openapi') ? { document: item } : (item as OpenApiOptions)
}

function toApiName(document: string | JsonObject): string {
  if (typeof document === 'string')
    return /^https?:/i.test(document)
      ? toHostName(document)
      : toValidName(document.replace(/^.*[/\\]/, '').replace(/\.[^.]*$/, ''))
  const title = asText(asObject(document['info'])?.['title'])
  return title === undefined ? 'api' : toValidName(title)
}
