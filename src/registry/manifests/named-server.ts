import type { ForeignFacts } from '../found.ts'
import { own, textMapOf, textsOf } from './facts.ts'
import type { ManifestFile, NamedServer } from './manifest.ts'
import type { Reading } from '../../contract/documents/reading.ts'
import { refuse } from '../../contract/documents/reading.ts'

type Data = { readonly [key: string]: unknown }

/** Reads a manifest with `command: mcp`. With parameters it describes one tool of the server, without them it brings all of its tools. */
export function readServer(
  data: Data,
  name: string,
  facts: ForeignFacts,
  oneTool: boolean,
): Reading<ManifestFile> {
  const server = findServer(data)
  if (!server)
    return refuse(
      'manifest',
      "has the command mcp, but its 'entry' is neither an address nor a command",
      'Write entry: http://host:port (a server with /list_tools and /call_tool), entry: https://host/mcp, or entry: a command that starts an MCP server on stdio',
    )
  const tool = own(data, 'tool')
  return {
    value: {
      style: 'fractalic',
      name,
      server,
      facts,
      ...((oneTool || typeof tool === 'string') && {
        tool: typeof tool === 'string' ? tool : name,
      }),
    },
  }
}

/** True for a command that is a file of the folder; a bare word is a program of the machine. */
export function isFileName(command: string): boolean {
  return /[\\/.]/.test(command)
}

function findServer(data: Data): NamedServer | undefined {
  const url = own(data, 'url')
  const entry = own(data, 'entry') ?? url
  if (typeof entry === 'string' && /^https?:\/\//i.test(entry))
    return byAddress(data, entry, entry === url)
  const words = typeof entry === 'string' ? entry.trim().split(/\s+/) : textsOf(entry)
  const [command, ...rest] = words
  if (command === undefined || command === '') return undefined
  const env = textMapOf(own(data, 'env'))
  return {
    protocol: 'mcp',
    command,
    args: [...rest, ...textsOf(own(data, 'args'))],
    ...(env && { env }),
  }
}

// The specification calls servers with /list_tools and /call_tool by this name; a server of the real protocol is told by its key, its type or its path.
function byAddress(data: Data, address: string, keyed: boolean): NamedServer {
  const headers = textMapOf(own(data, 'headers'))
  const type = own(data, 'type') ?? own(data, 'transport')
  const real = keyed || type !== undefined || /\/(mcp|sse)\/?$/i.test(address)
  const url = real ? address : address.replace(/\/+(call_tool|list_tools)?\/*$/, '')
  const protocol: 'mcp' | 'call_tool' = real ? 'mcp' : 'call_tool'
  return { protocol, url, ...(headers && { headers }) }
}
