import { isObject } from '../../contract/json.ts'
import type { JsonObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'

/** Where the document came from, and where its API was said to be. */
export type Origin = {
  /** The address of the document, where it was fetched. */ readonly from?: URL
  readonly baseUrl?: URL
}

/** The address that an operation is called at: as configured, else as its document says. Throws CONFIG where that is nowhere, or where nobody configured it. */
export function serverOf(document: JsonObject, own: unknown, { from, baseUrl }: Origin): URL {
  if (baseUrl) return baseUrl
  const [server] = [own, document['servers']].flatMap((servers) =>
    Array.isArray(servers) && isObject(servers[0]) ? [servers[0]] : [],
  )
  const text = server ? withVariables(server) : '/'
  const url = URL.canParse(text, from?.href) ? new URL(text, from) : undefined
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw new ToolError(
      'CONFIG',
      `the document does not say where its API is${server ? ` (its server is '${text}')` : ''}`,
      { suggestion: "Give the address: baseUrl: 'https://...'" },
    )
  // Whoever writes a document on the web must not decide where input and credentials go.
  if (from && url.origin !== from.origin)
    throw new ToolError(
      'CONFIG',
      `the document from ${from.origin} says that its API is at ${url.origin}`,
      { suggestion: `If you trust it, say so: baseUrl: '${url.href}'` },
    )
  return url
}

function withVariables({ url, variables }: JsonObject): string {
  const known = isObject(variables) ? variables : {}
  return String(url).replace(/\{([^{}]+)\}/g, (whole, name: string) => {
    const variable = Object.hasOwn(known, name) ? known[name] : undefined
    return isObject(variable) && typeof variable['default'] === 'string'
      ? variable['default']
      : whole
  })
}
