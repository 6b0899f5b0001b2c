/**
 * Sends spans to an OpenTelemetry collector. Loaded only for `runs export --endpoint`.
 */

import { ToolError } from '../protocol/tool-error.ts'
import { compact, parseJsonObject } from '../util/values.ts'
import type { OtlpTraces } from './trace-export.ts'

const SEND_TIMEOUT_MS = 10_000
const MAX_RESPONSE_CHARS = 64 * 1024

/**
 * Sends spans to a collector, to exactly the address that was given. Throws INVALID_INPUT for what
 * is no address, DEPENDENCY where the collector does not take them.
 */
export async function sendTrace(
  endpoint: string,
  traces: OtlpTraces,
  signal: AbortSignal,
): Promise<void> {
  const url = parseEndpoint(endpoint)
  const refuse = (why: string, cause?: unknown): ToolError =>
    new ToolError(
      'DEPENDENCY',
      `the collector at ${url.origin} ${why}`,
      compact({
        suggestion: `curl -i -H 'content-type: application/json' -d '{"resourceSpans":[]}' ${url.href}`,
        cause,
      }),
    )
  const timeout = AbortSignal.timeout(SEND_TIMEOUT_MS)
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(traces),
    redirect: 'error',
    signal: AbortSignal.any([signal, timeout]),
  }).catch((error: unknown) => {
    signal.throwIfAborted()
    throw refuse(
      timeout.aborted
        ? `did not answer within ${SEND_TIMEOUT_MS / 1000} s`
        : `cannot be reached (${((error as Error).cause as Error | undefined)?.message ?? (error as Error).message})`,
      error,
    )
  })
  if (!answer.ok) {
    await answer.body?.cancel()
    throw refuse(`answered ${answer.status}`)
  }
  const rejected = parseJsonObject(await readResponseStart(answer))?.['partialSuccess'] as
    { readonly rejectedSpans?: unknown; readonly errorMessage?: unknown } | undefined
  if (rejected && Number(rejected.rejectedSpans) > 0)
    throw refuse(
      `refused ${Number(rejected.rejectedSpans)} spans: ${String(rejected.errorMessage).slice(0, 200)}`,
    )
}

function parseEndpoint(endpoint: string): URL {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new ToolError(
    'INVALID_INPUT',
    `'${endpoint.slice(0, 100)}' is not the address of a collector`,
    { field: 'endpoint', suggestion: '--endpoint http://127.0.0.1:4318/v1/traces' },
  )
}

async function readResponseStart(answer: Response): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > MAX_RESPONSE_CHARS) break
  }
  return text
}
