import { ToolError } from '../../../contract/tool-error.ts'
import type { HttpRequest } from '../../../surfaces/http/exchange.ts'
import { readRunId } from '../routes/read-segments.ts'

/** Where a reader stands: which start of the server it knows, up to which version of the list, and up to which event of the run that it follows. */
export type Position = { readonly epoch?: string; readonly version: number; readonly seq: number }

/** What a reader of the stream asks for. */
export type Wanted = { readonly run?: string; readonly position: Position }

const LAST_EVENT_ID = /^([\w-]{1,64})\.(\d{1,15})\.(\d{1,15})$/

/** Reads the query, and the id of the last message of a reader that comes back: its header knows better than the address, which stays the same. A page that opens another stream says `last` there. Throws INVALID_INPUT. */
export function readWanted(request: HttpRequest): Wanted {
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
    LAST_EVENT_ID.exec(request.header('last-event-id') ?? query.get('last') ?? '') ?? []
  const position =
    epoch === undefined
      ? { version: 0, seq: Number(after) }
      : { epoch, version: Number(version), seq: Math.max(Number(seq), Number(after)) }
  return { ...(run !== null && { run: readRunId(run) }), position }
}

/** The id of a message. */
export function writePosition({ epoch, version, seq }: Required<Position>): string {
  return `${epoch}.${version}.${seq}`
}
