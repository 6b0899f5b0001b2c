import { isObject } from '../../../contract/json.ts'
import { ToolError } from '../../../contract/tool-error.ts'
import type { HttpAnswer } from '../../../registry/http/request.ts'
import { httpCode } from '../../../registry/http/status.ts'
import type { Server } from './ask-server.ts'

/** The failure that an answer of the server tells. */
export function readRefusal(
  { status, document, bytes }: HttpAnswer,
  { url }: Server,
  what: string,
): ToolError {
  const why =
    isObject(document) && typeof document['message'] === 'string'
      ? document['message']
      : bytes.toString('utf8', 0, 500)
  if (isUnknownService(status, why)) return noWorker(url, what)
  const code = httpCode(status)
  return new ToolError(
    code,
    `${what}: ${why === '' ? `the Restate server at ${url} answered with HTTP status ${status}` : why}`,
  )
}

/** What is said where nobody has registered the service. */
export function noWorker(url: string, what: string): ToolError {
  return new ToolError(
    'DEPENDENCY',
    `${what}: no worker has registered at the Restate server ${url}`,
    {
      suggestion:
        'Start one: toolable worker --listen 127.0.0.1:9080 --admin http://127.0.0.1:9070',
    },
  )
}

function isUnknownService(status: number, why: string): boolean {
  return status === 404 && /\bservice\b/i.test(why)
}
