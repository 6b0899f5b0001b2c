import { ToolError } from '../../contract/tool-error.ts'

/** A base path in the form that `cutBasePath` takes: empty, or `/x` without a slash at the end. Throws CONFIG for anything that is no path. */
export function checkBasePath(given: string | undefined): string {
  const base = (given ?? '').replace(/\/+$/, '')
  if (base === '' || /^(?:\/[\w.~!$&'()*+,;=:@%-]+)+$/.test(base)) return base
  throw new ToolError(
    'CONFIG',
    `'${given}' is no base path: it begins with a slash and has no spaces, ? or #`,
    { field: 'base-path', suggestion: { fix: 'Give a path', example: '/api' } },
  )
}

/** A name for the Host header, in lower case, with or without a port; throws CONFIG. */
export function checkHost(given: string): string {
  const host = given.toLowerCase()
  if (/^(\[[\da-f:.]+\]|[\w.-]+)(:\d+)?$/.test(host)) return host
  throw new ToolError('CONFIG', `'${given}' is no name for the Host header`, {
    field: 'allowed-host',
    suggestion: { fix: 'Give the name alone, or with its port', example: 'tools.example.com' },
  })
}

/** The origin of a page, or `*`; throws CONFIG. */
export function checkOrigin(given: string): string {
  if (given === '*' || /^https?:\/\/[^/?#\s]+$/i.test(given)) return given
  throw new ToolError('CONFIG', `'${given}' is no origin`, {
    field: 'allowed-origin',
    suggestion: { fix: 'Give scheme and host, without a path', example: 'https://app.example.com' },
  })
}

/** A bearer token: one word; throws CONFIG. */
export function checkToken(given: string): string {
  if (/^[\x21-\x7e]+$/.test(given)) return given
  throw new ToolError(
    'CONFIG',
    given.trim() === '' ? 'the token is empty' : 'the token is not one word of plain characters',
    {
      field: 'token',
      suggestion: { fix: 'Take a long random word', example: 'openssl rand -hex 32' },
    },
  )
}
