import { ToolError } from '../../../contract/tool-error.ts'
import type { HttpAnswer, HttpRequest } from '../../../surfaces/http/exchange.ts'
import { refuse } from '../../../surfaces/http/refuse.ts'
import type { Asset, Assets } from './load-assets.ts'

const FOR_EVER = 'public, max-age=31536000, immutable'
const INDEX = '/index.html'

/** A file of the page, or the page itself for every path that names a screen. */
export function assetAnswer(request: HttpRequest, assets: Assets): HttpAnswer {
  const { path } = request
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return refuse(
      new ToolError('USAGE', `${path.slice(0, 100)} does not answer ${request.method}`, {
        suggestion: 'Use GET',
      }),
      { status: 405, headers: { allow: 'GET, HEAD' } },
    )
  const asset = path === INDEX ? undefined : assets.get(path)
  if (asset) return fileAnswer(request, asset)
  if (isFile(path))
    return refuse(new ToolError('NOT_FOUND', `the dashboard has no file ${path.slice(0, 100)}`))
  const page = assets.get(INDEX)!
  return send(request, page, { 'cache-control': 'no-store' })
}

// Ids of tools have dots, so only what lies where files lie is one.
function isFile(path: string): boolean {
  return path.startsWith('/assets/') || (/^\/[^/]*\.[^/]*$/.test(path) && path !== INDEX)
}

function fileAnswer(request: HttpRequest, asset: Asset): HttpAnswer {
  const etag = `"${asset.hash}${takesGzip(request) && asset.gzip ? '-gzip' : ''}"`
  const caching = {
    'cache-control': asset.isFixed ? FOR_EVER : 'no-cache',
    etag,
    vary: 'accept-encoding',
  }
  const known = (request.header('if-none-match') ?? '')
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''))
  return known.includes(etag) ? { status: 304, headers: caching } : send(request, asset, caching)
}

function send(
  request: HttpRequest,
  { type, bytes, gzip }: Asset,
  headers: { readonly [name: string]: string },
): HttpAnswer {
  const small = takesGzip(request) ? gzip : undefined
  return {
    status: 200,
    headers: {
      'content-type': type,
      vary: 'accept-encoding',
      ...(small && { 'content-encoding': 'gzip' }),
      ...headers,
    },
    body: small ?? bytes,
  }
}

function takesGzip(request: HttpRequest): boolean {
  return (request.header('accept-encoding') ?? '')
    .split(',')
    .some((coding) => /^\s*(?:gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(coding))
}
