import { ToolError } from '../../../contract/tool-error.ts'
import { isObject } from '../../../contract/json.ts'
import { askServer, persistently } from './ask-server.ts'
import type { Server } from './ask-server.ts'

/** The admin interface of a Restate server. */
export function adminAt(url: string): Server {
  return { url, who: 'the admin interface of Restate', flag: '--admin' }
}

/** Tells the server where a worker is. It asks the worker at once what it serves; the same place again is no news. */
export async function registerWorker(
  admin: Server,
  uri: string,
  {
    signal,
    headers,
  }: { readonly signal: AbortSignal; readonly headers?: { readonly [name: string]: string } },
): Promise<void> {
  // Without force a changed service at an old address would be refused, and the server would go on with what it knew.
  const { status, document, bytes } = await askServer(admin, {
    method: 'POST',
    path: '/deployments',
    body: { uri, force: true, ...(headers && { additional_headers: headers }) },
    signal,
    timeout: 30_000,
  })
  if (status >= 200 && status < 300) return
  const why =
    isObject(document) && typeof document['message'] === 'string'
      ? document['message']
      : bytes.toString('utf8', 0, 500)
  throw new ToolError(
    'DEPENDENCY',
    `the Restate server at ${admin.url} does not take the worker at ${uri}: ${why}`,
    {
      suggestion:
        'Give the address by which the server reaches this worker: --advertise http://this-machine:9080',
    },
  )
}

/** Rows of a question in SQL. A server that has just come cannot tell for a while, and is asked again. */
export function query(
  admin: Server,
  sql: string,
  signal: AbortSignal,
): Promise<readonly { readonly [column: string]: unknown }[]> {
  return persistently(() => ask(admin, sql, signal), { tries: 6, signal })
}

async function ask(
  admin: Server,
  sql: string,
  signal: AbortSignal,
): Promise<readonly { readonly [column: string]: unknown }[]> {
  const { status, document, bytes } = await askServer(admin, {
    method: 'POST',
    path: '/query',
    body: { query: sql },
    signal,
    timeout: 30_000,
  })
  const rows = isObject(document) ? document['rows'] : undefined
  if (status === 200 && Array.isArray(rows)) return rows as never
  throw new ToolError(
    'DEPENDENCY',
    `${admin.who} at ${admin.url} does not answer questions: HTTP status ${status}: ${bytes.toString('utf8', 0, 300)}`,
    {
      retryable: status >= 500,
      suggestion:
        'Look whether --admin names the admin address of a Restate server (port 9070 by default)',
    },
  )
}
