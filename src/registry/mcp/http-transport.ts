import type { FetchLike, Transport } from '@modelcontextprotocol/client'
import { limitAnswer } from '../http/limit-answer.ts'
import type { HttpSettings } from './settings.ts'

const FEW_RETRIES = {
  initialReconnectionDelay: 500,
  maxReconnectionDelay: 10_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 3,
}

/** The connection to a server behind an address. Redirects are followed only within its origin, and answers are bounded. */
export async function openHttpTransport(
  { url, headers }: HttpSettings,
  type: 'http' | 'sse',
): Promise<Transport> {
  const { StreamableHTTPClientTransport, SSEClientTransport } =
    await import('@modelcontextprotocol/client')
  const bounded: FetchLike = async (address, init) => limitAnswer(await fetch(address, init))
  const options = { requestInit: { headers: { ...headers } }, fetch: bounded }
  return type === 'sse'
    ? new SSEClientTransport(url, options)
    : new StreamableHTTPClientTransport(url, { ...options, reconnectionOptions: FEW_RETRIES })
}
