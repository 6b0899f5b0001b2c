/**
 * The event stream of a tab (server-sent events): changes of the list, and the events of one run.
 */

import { toJsonText } from '../../cli/formats/json-text.ts'
import { onAbort } from '../../core/lifecycle.ts'
import type { HttpRequest, HttpResponse } from '../../http/exchange.ts'
import type { RunEvent } from '../../protocol/run-state.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { compact } from '../../util/values.ts'
import type { RunListChanges } from '../model/api.ts'
import type { RunsSource } from './backend.ts'
import { parseRunId } from './requests.ts'

/** What a stream needs besides the runs. */
export type StreamOptions = {
  readonly now: () => number
  /** Ends every stream. */ readonly signal: AbortSignal
  /** Milliseconds of silence after which a stream says that it is alive; default 15 s. */ readonly keepAlive?: number
}

const DEFAULT_KEEP_ALIVE_MS = 15_000
/** Milliseconds after which a browser comes back. */
const RETRY_MS = 500
const MAX_EVENTS_PER_MESSAGE = 500

type StreamPiece =
  | { readonly version: number; readonly news: RunListChanges }
  | { readonly events: readonly RunEvent[] }
  | { readonly problem: ToolError }

/**
 * The one stream of a tab: news of the list, and the events of a run where one is named. What a
 * reader has not taken is not made. Throws INVALID_INPUT for a query that means nothing.
 */
export function createStreamResponse(
  request: HttpRequest,
  runs: RunsSource,
  options: StreamOptions,
): HttpResponse {
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
    body: writeStream(request, runs, parseStreamRequest(request), options),
  }
}

async function* writeStream(
  request: HttpRequest,
  runs: RunsSource,
  { run, position }: StreamRequest,
  { now, signal, keepAlive = DEFAULT_KEEP_ALIVE_MS }: StreamOptions,
): AsyncGenerator<string, void, void> {
  const over = new AbortController()
  const end = (): void => over.abort()
  const forget = onAbort(signal, end)
  request.onDisconnect(end)
  if (signal.aborted) end()
  const isKnown = position.epoch === runs.epoch && position.version > 0
  const at = { epoch: runs.epoch, version: isKnown ? position.version : 0, seq: position.seq }
  const message = (event: string, data: unknown): string =>
    `id: ${toEventId(at)}\nevent: ${event}\ndata: ${toJsonText(data)}\n\n`
  try {
    yield `retry: ${RETRY_MS}\n${message('hello', compact({ epoch: at.epoch, version: at.version, now: new Date(now()).toISOString(), reset: (position.epoch !== undefined && !isKnown) || undefined }))}`
    const sources: AsyncIterable<StreamPiece>[] = [
      runs.news(isKnown ? position.version : undefined, over.signal),
    ]
    if (run !== undefined) sources.push(followRun(runs, run, at.seq, over.signal))
    for await (const piece of mergeSources(sources, keepAlive, over.signal)) {
      if (piece === SILENT) yield ': ping\n\n'
      else if ('news' in piece) {
        at.version = piece.version
        yield message('rows', piece.news)
      } else if ('events' in piece) {
        at.seq = piece.events.at(-1)!.seq
        yield message('run', { run_id: run, events: piece.events })
      } else yield message('problem', { run_id: run, error: piece.problem.toObject() })
    }
  } finally {
    forget()
    end()
  }
}

// A run that cannot be followed is no reason to hear nothing of the others.
async function* followRun(
  runs: RunsSource,
  run: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<StreamPiece> {
  try {
    for await (const events of runs.follow(run, after, signal)) {
      for (let from = 0; from < events.length; from += MAX_EVENTS_PER_MESSAGE)
        yield { events: events.slice(from, from + MAX_EVENTS_PER_MESSAGE) }
    }
  } catch (error) {
    yield {
      problem: ToolError.is(error)
        ? error
        : new ToolError('INTERNAL', 'the run cannot be followed', { cause: error }),
    }
  }
}

/**
 * Where a reader stands: which start of the server it knows, up to which version of the list, and
 * up to which event of the run that it follows.
 */
type StreamPosition = { readonly epoch?: string; readonly version: number; readonly seq: number }

/** What a reader of the stream asks for. */
type StreamRequest = { readonly run?: string; readonly position: StreamPosition }

const LAST_EVENT_ID_PATTERN = /^([\w-]{1,64})\.(\d{1,15})\.(\d{1,15})$/

/**
 * Reads the query, and the id of the last message of a reader that comes back: its header knows
 * better than the address, which stays the same. A page that opens another stream says `last`
 * there. Throws INVALID_INPUT.
 */
function parseStreamRequest(request: HttpRequest): StreamRequest {
  const query = new URLSearchParams(request.search)
  const run = query.get('run')
  const after = query.get('after') ?? '0'
  if (!/^\d{1,15}$/.test(after))
    throw new ToolError(
      'INVALID_INPUT',
      `'after' is the number of an event, got '${after.slice(0, 100)}'`,
      { field: 'after' },
    )
  const [, epoch, version, seq] =
    LAST_EVENT_ID_PATTERN.exec(request.header('last-event-id') ?? query.get('last') ?? '') ?? []
  const position =
    epoch === undefined
      ? { version: 0, seq: Number(after) }
      : { epoch, version: Number(version), seq: Math.max(Number(seq), Number(after)) }
  return compact({ run: run !== null ? parseRunId(run) : undefined, position })
}

/** The id of a message. */
function toEventId({ epoch, version, seq }: Required<StreamPosition>): string {
  return `${epoch}.${version}.${seq}`
}

/** Nothing came for a while. */
const SILENT = Symbol('silent')

/**
 * The pieces of several sources as they come, until all have ended or the signal says so; a source
 * is asked for its next piece only when its last one was taken. Gives SILENT after so many
 * milliseconds of nothing.
 */
async function* mergeSources<Piece>(
  sources: readonly AsyncIterable<Piece>[],
  silence: number,
  signal: AbortSignal,
): AsyncGenerator<Piece | typeof SILENT, void, void> {
  const iterators = sources.map((source) => source[Symbol.asyncIterator]())
  // One for each source at most.
  const arrived: ArrivedPiece<Piece>[] = []
  let wake: () => void = () => undefined
  const pull = (iterator: AsyncIterator<Piece>): void => {
    const arrive = (step: ArrivedPiece<Piece>['step']): void => {
      arrived.push({ iterator, step })
      wake()
    }
    iterator.next().then(
      (step) => arrive(() => step),
      (error: unknown) =>
        arrive(() => {
          throw error
        }),
    )
  }
  const forget = onAbort(signal, () => wake())
  try {
    iterators.forEach(pull)
    for (let open = iterators.length; open > 0 && !signal.aborted;) {
      const next = arrived.shift()
      if (!next) {
        if (
          !(await new Promise<boolean>((resolve) => {
            const timer = setTimeout(() => resolve(false), silence)
            wake = () => {
              clearTimeout(timer)
              resolve(true)
            }
          }))
        )
          yield SILENT
        continue
      }
      const step = next.step()
      if (step.done) {
        open -= 1
        continue
      }
      yield step.value
      pull(next.iterator)
    }
  } finally {
    forget()
    wake()
    for (const iterator of iterators)
      void Promise.resolve(iterator.return?.()).catch(() => undefined)
  }
}

type ArrivedPiece<Piece> = {
  readonly iterator: AsyncIterator<Piece>
  readonly step: () => IteratorResult<Piece, unknown>
}
