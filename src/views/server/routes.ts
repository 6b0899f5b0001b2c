/**
 * Everything that can be asked for below `/api`: one line per route in ROUTES.
 */

import { toDocumentResponse } from '../../http/call.ts'
import type { HttpRequest, HttpResponse } from '../../http/exchange.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { JsonObject } from '../../util/values.ts'
import { ATTACHMENT_POLICY } from './auth.ts'
import type { DashboardBackend, RunsSource } from './backend.ts'
import { decodeSegment, parseIndex, parseRunId, RefusedRequest } from './requests.ts'
import type { BodyShape } from './requests.ts'
import { createStreamResponse } from './stream.ts'
import type { StreamOptions } from './stream.ts'

const TEXT = { is: 'text' } as const
const SWITCH = { is: 'switch' } as const
const ANY_OBJECT = { is: 'map', of: { is: 'anything' } } as const

/** Everything that can be asked for below `/api`. */
export const ROUTES: readonly DashboardRoute[] = [
  getRoute('/about', ({ backend, readOnly }) => ({
    ...backend.catalogue.about(),
    read_only: readOnly,
  })),
  getRoute('/runs', ({ backend, query }) => backend.runs.list(query)),
  getRoute('/runs/:run', ({ backend, run }) => backend.runs.detail(run)),
  getRoute('/runs/:run/events', ({ backend, run, query }) => backend.runs.events(run, query)),
  getRoute('/runs/:run/log', ({ backend, run, query }) => backend.runs.log(run, query)),
  {
    method: 'GET',
    path: '/runs/:run/artifacts/:index',
    reads: true,
    answer: async ({ backend, run, index }) =>
      createAttachment(await backend.runs.artifact(run, index)),
  },
  getRoute('/decisions', ({ backend }) => backend.runs.decisions()),
  getRoute('/plans', ({ backend }) => backend.runs.plans()),
  getRoute('/tools', ({ backend }) => backend.catalogue.tools()),
  getRoute('/tools/:name', ({ backend, name }) => backend.catalogue.tool(name)),
  getRoute('/workflows', ({ backend }) => backend.catalogue.workflows()),
  getRoute('/workflows/:name', ({ backend, name }) => backend.catalogue.workflow(name)),
  getRoute('/doctor', ({ backend }) => backend.catalogue.doctor()),
  {
    method: 'GET',
    path: '/stream',
    reads: true,
    answer: ({ backend, request, stream }) => createStreamResponse(request, backend.runs, stream),
  },

  postRoute(
    '/runs',
    {
      keys: { tool: TEXT, input: ANY_OBJECT, dry_run: SWITCH, confirm: SWITCH },
      required: ['tool', 'input'],
    },
    ({ backend, body }) =>
      backend.actions.start(
        body as { tool: string; input: JsonObject; dry_run?: boolean; confirm?: boolean },
      ),
  ),
  postRoute('/runs/:run/cancel', { keys: { reason: TEXT } }, ({ backend, run, body }) =>
    backend.actions.cancel(run, body['reason'] as string | undefined),
  ),
  postRoute('/runs/:run/resume', { keys: {} }, ({ backend, run }) => backend.actions.resume(run)),
  postRoute(
    '/runs/:run/retry',
    { keys: { input: ANY_OBJECT, confirm: SWITCH } },
    ({ backend, run, body }) =>
      backend.actions.retry(run, body['input'] as JsonObject | undefined, body['confirm'] === true),
  ),
  postRoute(
    '/runs/:run/answer',
    {
      keys: { question: TEXT, value: { is: 'anything' }, note: TEXT },
      required: ['question', 'value'],
    },
    ({ backend, run, body }) =>
      backend.actions.answer(
        run,
        body['question'] as string,
        body['value'],
        body['note'] as string | undefined,
      ),
  ),
  readingPostRoute('/runs/:run/artifacts/:index/verify', { keys: {} }, ({ backend, run, index }) =>
    backend.runs.verify(run, index),
  ),
  readingPostRoute(
    '/tools/:name/preview',
    { keys: { input: ANY_OBJECT }, required: ['input'] },
    ({ backend, name, body }) => backend.catalogue.preview(name, body['input'] as JsonObject),
  ),
  postRoute('/tools/rescan', { keys: {} }, ({ backend }) => backend.catalogue.rescan()),
  postRoute(
    '/doctor/clean',
    { keys: { days: { is: 'count' } }, required: ['days'] },
    ({ backend, body }) => backend.actions.clean(body['days'] as number),
  ),
]

type MakeDocument = (asked: RouteRequest) => unknown

function getRoute(path: string, make: MakeDocument): DashboardRoute {
  return { method: 'GET', path, reads: true, answer: respondWithDocument(make) }
}

function postRoute(path: string, body: Omit<BodyShape, 'is'>, make: MakeDocument): DashboardRoute {
  return {
    method: 'POST',
    path,
    reads: false,
    body: { is: 'object', ...body },
    answer: respondWithDocument(make),
  }
}

// A POST that changes nothing: what it asks about does not fit into an address, or takes work.
function readingPostRoute(
  path: string,
  body: Omit<BodyShape, 'is'>,
  make: MakeDocument,
): DashboardRoute {
  return { ...postRoute(path, body, make), reads: true }
}

function respondWithDocument(make: MakeDocument): DashboardRoute['answer'] {
  return async (asked) => {
    const answer = toDocumentResponse((await make(asked)) ?? {})
    return { ...answer, headers: { ...answer.headers, 'cache-control': 'no-store' } }
  }
}

/** A route with what stands in the places of its path. */
type FoundRoute = {
  readonly route: DashboardRoute
  readonly places: Pick<RouteRequest, 'run' | 'index' | 'name'>
}

const SPLIT_ROUTES = ROUTES.map((route) => ({ route, pattern: route.path.slice(1).split('/') }))

/**
 * The route of a path behind `/api`. Throws NOT_FOUND, the refusal of a wrong method, or
 * INVALID_INPUT for an id that can be none.
 */
export function findRoute(method: string, path: string): FoundRoute {
  const segments = path.slice(1).split('/')
  // A word in its place is meant before any name that could stand there.
  const fitting = SPLIT_ROUTES.filter(({ pattern }) => matchesPattern(pattern, segments)).sort(
    (left, right) => countPlaceholders(left.pattern) - countPlaceholders(right.pattern),
  )
  if (fitting.length === 0)
    throw new ToolError('NOT_FOUND', `nothing is at /api${path.slice(0, 100)}`, {
      suggestion: 'docs/dashboard.md lists what can be asked for',
    })
  const found = fitting.find(({ route }) => route.method === (method === 'HEAD' ? 'GET' : method))
  if (!found) {
    const allow = [
      ...new Set(
        fitting.flatMap(({ route }) => (route.method === 'GET' ? ['GET', 'HEAD'] : ['POST'])),
      ),
    ].join(', ')
    throw new RefusedRequest(
      405,
      new ToolError('USAGE', `/api${path.slice(0, 100)} does not answer ${method.slice(0, 20)}`, {
        suggestion: `Use ${allow}`,
      }),
      { allow },
    )
  }
  return { route: found.route, places: readPlaceholders(found.pattern, segments) }
}

function matchesPattern(pattern: readonly string[], segments: readonly string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((part, index) =>
      part.startsWith(':') ? segments[index] !== '' : part === segments[index],
    )
  )
}

function countPlaceholders(pattern: readonly string[]): number {
  return pattern.filter((part) => part.startsWith(':')).length
}

function readPlaceholders(
  pattern: readonly string[],
  segments: readonly string[],
): FoundRoute['places'] {
  const at = (place: string): string | undefined => {
    const index = pattern.indexOf(place)
    return index < 0 ? undefined : decodeSegment(segments[index]!)
  }
  const [run, index, name] = [at(':run'), at(':index'), at(':name')]
  return {
    run: run === undefined ? '' : parseRunId(run),
    index: index === undefined ? 0 : parseIndex(index),
    name: name ?? '',
  }
}

/** One request with what it is about. */
type RouteRequest = {
  readonly backend: DashboardBackend
  readonly request: HttpRequest
  readonly query: URLSearchParams
  /**
   * What stands in the places of the path: the id of a run, the index of an artifact, the name of a
   * tool or a workflow.
   */
  readonly run: string
  readonly index: number
  readonly name: string
  /** The checked body of a POST. */
  readonly body: JsonObject
  readonly readOnly: boolean
  readonly stream: StreamOptions
}

/** What can be done by one method at one path. */
type DashboardRoute = {
  readonly method: 'GET' | 'POST'
  /** The path behind `/api`, with places for what varies: `/runs/:run/artifacts/:index`. */
  readonly path: string
  readonly answer: (asked: RouteRequest) => HttpResponse | Promise<HttpResponse>
  /** What the body of a POST has to be. */
  readonly body?: BodyShape
  /** It changes nothing, so that it may be done in read-only mode too. */
  readonly reads: boolean
}

const MAX_FILE_NAME_CHARS = 150

/**
 * A file that a tool has made: to be saved, never to be shown, whatever is in it and whatever it is
 * called.
 */
function createAttachment({
  name,
  bytes,
  body,
}: Awaited<ReturnType<RunsSource['artifact']>>): HttpResponse {
  return {
    status: 200,
    headers: {
      'content-type': 'application/octet-stream',
      'content-length': String(bytes),
      'content-disposition': toContentDisposition(name),
      'content-security-policy': ATTACHMENT_POLICY,
      'cache-control': 'no-store',
      'accept-ranges': 'none',
    },
    body: requireExactLength(body, bytes),
  }
}

/**
 * The header that names a file to save: for old readers in plain letters, for all others as it is.
 */
function toContentDisposition(name: string): string {
  const last = name
    .split(/[/\\]/)
    .at(-1)!
    .replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '')
  const clean = [...(/^\.*$/.test(last) ? 'artifact' : last)].slice(0, MAX_FILE_NAME_CHARS).join('')
  const plain = clean.replace(/[^\w .()+,=@-]/g, '_')
  const exact = encodeURIComponent(clean).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`
}

// The length was told before: a file that grows or shrinks meanwhile must not become a part of the
// next answer.
async function* requireExactLength(
  body: AsyncIterable<Uint8Array>,
  bytes: number,
): AsyncGenerator<Uint8Array, void, void> {
  let left = bytes
  for await (const chunk of body) {
    if (chunk.length > left) throw new Error('the file has grown while it was sent')
    left -= chunk.length
    yield chunk
  }
  if (left > 0) throw new Error('the file has shrunk while it was sent')
}
