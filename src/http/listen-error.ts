/**
 * Explains why an address could not be bound. Separate, because workers need it without the server.
 */

import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { ToolError } from '../protocol/tool-error.ts'
import { compact } from '../util/values.ts'
import { formatHost } from './exchange.ts'

/** Why an address could not be bound, with what to type instead. */
export async function explainListenError(
  error: NodeJS.ErrnoException,
  host: string,
  port: number,
): Promise<ToolError> {
  const details = compact({ host, port, errno: error.code })
  const place = `${formatHost(host)}:${port}`
  if (error.code === 'EADDRINUSE' || error.code === 'EACCES') {
    const free = await findFreePort(host)
    const what =
      error.code === 'EACCES' ? 'may not be used by this user' : 'is taken by another program'
    return new ToolError('CONFIG', `cannot listen on ${place}: the port ${what}`, {
      field: 'port',
      details,
      cause: error,
      suggestion: {
        fix: 'Take another port; --port 0 picks a free one',
        example: `--port ${free}`,
      },
    })
  }
  return new ToolError(
    'CONFIG',
    `cannot listen on ${place}: ${host} is not an address of this machine (${error.code ?? error.message})`,
    {
      field: 'host',
      details,
      cause: error,
      suggestion: { fix: 'Bind an address of this machine', example: '--host 127.0.0.1' },
    },
  )
}

// 0 where none can be found: it means the same to whoever pastes it.
function findFreePort(host: string): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(0))
    probe.listen({ host, port: 0 }, () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => resolve(port))
    })
  })
}
