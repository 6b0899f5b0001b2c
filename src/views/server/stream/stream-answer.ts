import { onAbort } from '../../../call/on-abort.ts'
import type { RunEvent } from '../../../contract/run-state.ts'
import { ToolError } from '../../../contract/tool-error.ts'
import { toJsonText } from '../../../surfaces/cli/output/json-text.ts'
import type { HttpAnswer, HttpRequest } from '../../../surfaces/http/exchange.ts'
import type { RowsNews } from '../../model/wire/others.ts'
import type { RunsSource } from '../backend.ts'
import { SILENT, merge } from './merge.ts'
import { readWanted, writePosition } from './position.ts'
import type { Wanted } from './position.ts'

/** What a stream needs besides the runs. */
export type StreamOptions = {
  readonly now: () => number
  /** Ends every stream. */ readonly signal: AbortSignal
  /** Milliseconds of silence after which a stream says that it is alive; default 15 s. */ readonly keepAlive?: number
}

const KEEP_ALIVE_MS = 15_000
/** Milliseconds after which a browser comes back. */
const RETRY_MS = 500
const MOST_EVENTS = 500

type Piece =
  | { readonly version: number; readonly news: RowsNews }
  | { readonly events: readonly RunEvent[] }
  | { readonly problem: ToolError }

/** The one stream of a tab: news of the list, and the events of a run where one is named. What a reader has not taken is not made. Throws INVALID_INPUT for a query that means nothing. */
export function streamAnswer(
  request: HttpRequest,
  runs: RunsSource,
  options: StreamOptions,
): HttpAnswer {
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
    body: writeStream(request, runs, readWanted(request), options),
  }
}

async function* writeStream(
  request: HttpRequest,
  runs: RunsSource,
  { run, position }: Wanted,
  { now, signal, keepAlive = KEEP_ALIVE_MS }: StreamOptions,
): AsyncGenerator<string, void, void> {
  const over = new AbortController()
  const end = (): void => over.abort()
  const forget = onAbort(signal, end)
  request.onGone(end)
  if (signal.aborted) end()
  const isKnown = position.epoch === runs.epoch && position.version > 0
  const at = { epoch: runs.epoch, version: isKnown ? position.version : 0, seq: position.seq }
  const message = (event: string, data: unknown): string =>
    `id: ${writePosition(at)}\nevent: ${event}\ndata: ${toJsonText(data)}\n\n`
  try {
    yield `retry: ${RETRY_MS}\n${message('hello', { epoch: at.epoch, version: at.version, now: new Date(now()).toISOString(), ...(position.epoch !== undefined && !isKnown && { reset: true }) })}`
    const sources: AsyncIterable<Piece>[] = [
      runs.news(isKnown ? position.version : undefined, over.signal),
    ]
    if (run !== undefined) sources.push(follow(runs, run, at.seq, over.signal))
    for await (const piece of merge(sources, keepAlive, over.signal)) {
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
async function* follow(
  runs: RunsSource,
  run: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<Piece> {
  try {
    for await (const events of runs.follow(run, after, signal)) {
      for (let from = 0; from < events.length; from += MOST_EVENTS)
        yield { events: events.slice(from, from + MOST_EVENTS) }
    }
  } catch (error) {
    yield {
      problem: ToolError.is(error)
        ? error
        : new ToolError('INTERNAL', 'the run cannot be followed', { cause: error }),
    }
  }
}
