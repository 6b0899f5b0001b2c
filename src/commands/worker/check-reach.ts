import { ToolError } from '../../contract/tool-error.ts'
import { isLoopback } from '../../surfaces/http/guards/guards.ts'
import { isEverywhere } from './listen-address.ts'
import type { Address } from './listen-address.ts'

/** Refuses a worker that everybody could use, and one that the server could not find. Throws CONFIG. */
export function checkReach(
  { host }: Address,
  advertise: string | undefined,
  token: string | undefined,
): void {
  if (!isLoopback(host) && token === undefined)
    throw new ToolError(
      'CONFIG',
      `${host} can be reached from other machines, and whoever reaches a worker runs tools: it needs a token`,
      {
        field: 'token-file',
        suggestion: {
          fix: 'Write a token to a file that only you can read and start with --token-file token.txt, or bind 127.0.0.1',
          example: '(umask 077; openssl rand -hex 32 > token.txt)',
        },
      },
    )
  if (isEverywhere(host) && advertise === undefined)
    throw new ToolError('CONFIG', `${host} is no address that the server could call`, {
      field: 'advertise',
      suggestion: '--advertise http://<name of this machine>:9080',
    })
}

/** The address that the server is told, where one was given. Throws CONFIG for what is none. */
export function advertised(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url.href
  throw new ToolError('CONFIG', `'${text.slice(0, 100)}' is not the address of a worker`, {
    field: 'advertise',
    suggestion: '--advertise http://worker-1:9080',
  })
}
