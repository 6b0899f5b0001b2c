import type { KeyPath } from '../../contract/documents/document.ts'
import { shorten } from '../../contract/shorten.ts'
import { Fault } from './fault.ts'
import type { EgressGrant } from './grants.ts'

const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/
const THIS_MACHINE = /^(localhost|.+\.localhost|127\.0\.0\.1)$/
const METADATA = /^(169\.254\.\d+\.\d+|metadata|metadata\.google\.internal|instance-data)$/

/** The server that `host:port` means. Throws a Fault for everything that is not exactly one server. */
export function readServer(text: string, path: KeyPath): EgressGrant {
  const given = shorten(text, 200)
  const [, host = '', port = ''] = /^(.*):([^:]*)$/s.exec(text) ?? [undefined, text, '']
  if (text.includes('*'))
    throw new Fault(
      'PERMISSION',
      path,
      `'${given}' lets the tool talk to more than one server`,
      'Name each server: api.example.com:443',
    )
  if (text.includes('/'))
    throw new Fault(
      'CONFIG',
      path,
      `'${given}' is no host:port`,
      `Write ${serverOfUrl(text) ?? 'api.example.com:443'}`,
    )
  if (METADATA.test(host.toLowerCase()))
    throw new Fault(
      'PERMISSION',
      path,
      `'${given}' tells secrets of the machine to whoever asks`,
      'Leave it out',
    )
  if (host.startsWith('[') || host.includes(':') || (isAddress(host) && !THIS_MACHINE.test(host)))
    throw new Fault(
      'PERMISSION',
      path,
      `'${given}' names an address, and only names can be let through`,
      'Write the name of the server: api.example.com:443',
    )
  if (port === '')
    throw new Fault(
      'CONFIG',
      path,
      `'${given}' has no port`,
      `Write ${host === '' ? 'api.example.com' : shorten(host, 200)}:443`,
    )
  if (/^\d+-\d+$/.test(port))
    throw new Fault('PERMISSION', path, `'${given}' has a range of ports`, 'Name each port')
  if (!/^[1-9]\d{0,4}$/.test(port) || Number(port) > 65_535)
    throw new Fault(
      'CONFIG',
      path,
      `'${given}' has the port '${port}'`,
      'A port is a number from 1 to 65535',
    )
  const name = host.toLowerCase()
  if (name.length > 253 || !name.split('.').every((label) => LABEL.test(label)))
    throw new Fault(
      'CONFIG',
      path,
      `'${given}' has no valid host name`,
      /[^\u0000-\u007f]/.test(host)
        ? `Write ${asciiName(host)}:${port}`
        : 'Write letters, digits, dots and dashes: api.example.com:443',
    )
  return { host: name, port: Number(port), ...(THIS_MACHINE.test(name) && { local: true }) }
}

// `127.1`, `0x7f.1` and `2130706433` are addresses too.
function isAddress(host: string): boolean {
  const last = host.split('.').at(-1)!
  return /^(\d+|0x[0-9a-f]*)$/i.test(last)
}

function serverOfUrl(text: string): string | undefined {
  try {
    const { hostname, port, protocol } = new URL(text)
    return hostname === ''
      ? undefined
      : `${hostname}:${port === '' ? (protocol === 'http:' ? 80 : 443) : port}`
  } catch {
    return undefined
  }
}

function asciiName(host: string): string {
  try {
    return new URL(`http://${host}`).hostname
  } catch {
    return 'api.example.com'
  }
}
