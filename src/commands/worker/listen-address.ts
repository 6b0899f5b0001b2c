import { ToolError } from '../../contract/tool-error.ts'

/** A place to bind. */
export type Address = { readonly host: string; readonly port: number }

/** Reads `host:port`, `[::1]:port`, or a port alone, which means loopback. Throws INVALID_INPUT. */
export function readAddress(text: string): Address {
  const [, bracketed, plain, digits] =
    /^(?:(?:\[([^\]]+)\]|([^:[\]]+)):)?(\d{1,5})$/.exec(text.trim()) ?? []
  const port = Number(digits)
  if (digits === undefined || port > 65_535)
    throw new ToolError('INVALID_INPUT', `'${text.slice(0, 100)}' is not an address to listen on`, {
      field: 'listen',
      suggestion: '--listen 127.0.0.1:9080',
    })
  return { host: bracketed ?? plain ?? '127.0.0.1', port }
}

/** The URL of a place. */
export function urlOf({ host, port }: Address): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** True for an address that means every interface, and so none that somebody else could call. */
export function isEverywhere(host: string): boolean {
  return /^(0\.0\.0\.0|::|0)$/.test(host)
}
