/**
 * The dashboard as an HTTP app: the page and its files, and the API below `/api`.
 *
 * auth.ts decides who may ask (token, cookie, Host and Origin). routes.ts is the table of
 * everything that can be asked for; each route calls the Backend that commands/ui provides.
 * stream.ts is the one event stream of a browser tab.
 */

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { HttpApp, HttpRequest, HttpResponse } from '../../http/exchange.ts'
import { BodyError, toFailureResponse, toRefusalResponse } from '../../http/exchange.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { compact } from '../../util/values.ts'
import type { DashboardSession } from './auth.ts'
import {
  addSecurityHeaders,
  checkAddress,
  createLockedPage,
  createUnauthorizedResponse,
  exchangeToken,
} from './auth.ts'
import type { DashboardBackend } from './backend.ts'
import { readBody, RefusedRequest } from './requests.ts'
import { findRoute } from './routes.ts'
import type { StreamOptions } from './stream.ts'

/** How a dashboard is served. */
type DashboardOptions = StreamOptions & {
  readonly session: DashboardSession
  /** The port that it listens on, as soon as there is one. */
  readonly port: () => number
  /** Refuses everything that would change something. */
  readonly readOnly: boolean
  readonly assets: PageAssets
  /** Called with internal errors. */
  readonly onFailure?: (error: Error) => void
}

const RESPONSE_META = { tool: 'dashboard' } as const
const API_PATH = '/api'

/**
 * The dashboard as an HTTP app: the page, and what it asks for below `/api`. Only whoever has the
 * token or its cookie, from a page of ours or from a program, gets anything.
 */
export function createDashboardApp(backend: DashboardBackend, options: DashboardOptions): HttpApp {
  return async (request) => {
    try {
      return addSecurityHeaders(await handleRequest(request, backend, options))
    } catch (error) {
      return addSecurityHeaders(toErrorResponse(error, options))
    }
  }
}

function handleRequest(
  request: HttpRequest,
  backend: DashboardBackend,
  options: DashboardOptions,
): HttpResponse | Promise<HttpResponse> {
  const isApi = request.path === API_PATH || request.path.startsWith(`${API_PATH}/`)
  const problem = checkAddress(request, options.port(), !isApi && isReadRequest(request))
  if (problem) return toRefusalResponse(problem, { meta: RESPONSE_META })
  if (isApi) return handleApiRequest(request, backend, options)
  return (
    exchangeToken(request, options.session) ??
    (options.session.authenticate(request) === undefined
      ? createLockedPage()
      : serveAsset(request, options.assets))
  )
}

async function handleApiRequest(
  request: HttpRequest,
  backend: DashboardBackend,
  { session, readOnly, ...options }: DashboardOptions,
): Promise<HttpResponse> {
  const shownBy = session.authenticate(request)
  if (shownBy === undefined) return createUnauthorizedResponse()
  // A browser sends the cookie by itself; that one of our pages asked is said by the Origin only.
  if (!isReadRequest(request) && shownBy === 'cookie' && request.header('origin') === undefined)
    throw new ToolError(
      'PERMISSION',
      'a request that changes something needs the Origin of the dashboard',
      {
        suggestion: {
          fix: 'Programs send the token instead of the cookie',
          example: 'Authorization: Bearer <token>',
          applicability: 'has_placeholders',
        },
      },
    )
  const { route, places } = findRoute(request.method, request.path.slice(API_PATH.length))
  if (readOnly && !route.reads)
    throw new ToolError('PERMISSION', 'this dashboard was started with --read-only', {
      suggestion: { action: 'abort', fix: 'Start toolable ui without --read-only to do this' },
    })
  const body = route.body === undefined ? {} : await readBody(request, route.body)
  return route.answer({
    backend,
    request,
    query: new URLSearchParams(request.search),
    ...places,
    body,
    readOnly,
    stream: options,
  })
}

function isReadRequest({ method }: HttpRequest): boolean {
  return method === 'GET' || method === 'HEAD'
}

function toErrorResponse(error: unknown, { onFailure }: DashboardOptions): HttpResponse {
  if (error instanceof RefusedRequest)
    return toRefusalResponse(error.error, {
      status: error.status,
      headers: error.headers,
      meta: RESPONSE_META,
    })
  if (!ToolError.is(error) && !(error instanceof BodyError))
    onFailure?.(error instanceof Error ? error : new Error(String(error)))
  return toFailureResponse(error, { meta: RESPONSE_META })
}

const CACHE_FOREVER = 'public, max-age=31536000, immutable'
const INDEX_PATH = '/index.html'

/** A file of the page, or the page itself for every path that names a screen. */
function serveAsset(request: HttpRequest, assets: PageAssets): HttpResponse {
  const { path } = request
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return toRefusalResponse(
      new ToolError('USAGE', `${path.slice(0, 100)} does not answer ${request.method}`, {
        suggestion: 'Use GET',
      }),
      { status: 405, headers: { allow: 'GET, HEAD' } },
    )
  const asset = path === INDEX_PATH ? undefined : assets.get(path)
  if (asset) return serveFile(request, asset)
  if (isFilePath(path))
    return toRefusalResponse(
      new ToolError('NOT_FOUND', `the dashboard has no file ${path.slice(0, 100)}`),
    )
  const page = assets.get(INDEX_PATH)!
  return toResponse(request, page, { 'cache-control': 'no-store' })
}

// Ids of tools have dots, so only what lies where files lie is one.
function isFilePath(path: string): boolean {
  return path.startsWith('/assets/') || (/^\/[^/]*\.[^/]*$/.test(path) && path !== INDEX_PATH)
}

function serveFile(request: HttpRequest, asset: PageAsset): HttpResponse {
  const etag = `"${asset.hash}${acceptsGzip(request) && asset.gzip ? '-gzip' : ''}"`
  const caching = {
    'cache-control': asset.isFixed ? CACHE_FOREVER : 'no-cache',
    etag,
    vary: 'accept-encoding',
  }
  const known = (request.header('if-none-match') ?? '')
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''))
  return known.includes(etag)
    ? { status: 304, headers: caching }
    : toResponse(request, asset, caching)
}

function toResponse(
  request: HttpRequest,
  { type, bytes, gzip }: PageAsset,
  headers: { readonly [name: string]: string },
): HttpResponse {
  const small = acceptsGzip(request) ? gzip : undefined
  return {
    status: 200,
    headers: {
      'content-type': type,
      vary: 'accept-encoding',
      ...compact({ 'content-encoding': small ? 'gzip' : undefined }),
      ...headers,
    },
    body: small ?? bytes,
  }
}

function acceptsGzip(request: HttpRequest): boolean {
  return (request.header('accept-encoding') ?? '')
    .split(',')
    .some((coding) => /^\s*(?:gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(coding))
}

/** A file of the page, in memory. */
type PageAsset = {
  readonly type: string
  readonly bytes: Uint8Array
  /** Absent where it would not be smaller. */ readonly gzip?: Uint8Array
  readonly hash: string
  /** Its name changes with its content, so that it may be kept for ever. */ readonly isFixed: boolean
}

/** The files of the page by their paths; `/index.html` is among them. */
type PageAssets = ReadonlyMap<string, PageAsset>

const CONTENT_TYPES: { readonly [extension: string]: string } = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
}

/**
 * Reads the built page into memory, so that no path can reach another file. Throws CONFIG when it
 * was not built.
 */
export function loadAssets(folder: string): PageAssets {
  const assets = new Map(
    listFiles(folder).map((name) => [`/${name}`, readAsset(join(folder, name))]),
  )
  if (assets.has('/index.html')) return assets
  throw new ToolError('CONFIG', `the page of the dashboard is not in ${folder}`, {
    suggestion: {
      fix: 'Install the package again; in its repository, build it',
      example: 'npm run build',
    },
  })
}

function listFiles(folder: string, inside = ''): string[] {
  let entries
  try {
    entries = readdirSync(join(folder, inside), { withFileTypes: true })
  } catch {
    return []
  }
  return entries.flatMap((entry) => {
    if (entry.isDirectory()) return listFiles(folder, `${inside}${entry.name}/`)
    return entry.isFile() ? [`${inside}${entry.name}`] : []
  })
}

function readAsset(file: string): PageAsset {
  const bytes = readFileSync(file)
  const gzip = gzipSync(bytes, { level: 9 })
  return compact({
    type: CONTENT_TYPES[extname(file)] ?? 'application/octet-stream',
    bytes,
    gzip: gzip.length < bytes.length ? gzip : undefined,
    hash: createHash('sha256').update(bytes).digest('base64url').slice(0, 22),
    isFixed: /-[\w-]{8,}\.\w+$/.test(file),
  })
}
