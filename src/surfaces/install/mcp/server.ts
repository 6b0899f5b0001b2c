import { ToolError } from '../../../contract/tool-error.ts'
import type { Server } from '../agents/agent.ts'
import { MARK_VARIABLE } from './mark.ts'
import type { StartCommand } from './start-command.ts'

/** How the caller wants the server to be reached. */
export type ServerInput = {
  readonly transport?: 'stdio' | 'http'
  readonly url?: string
  readonly command?: string
  readonly arg?: readonly string[]
  readonly env?: readonly string[]
}

/** The server that agents are told about. Throws INVALID_INPUT for wishes that do not go together. */
export function serverFrom(
  { transport, url, command, arg, env }: ServerInput,
  start: StartCommand,
): Server {
  if ((transport ?? (url === undefined ? 'stdio' : 'http')) === 'http') {
    const field = Object.entries({ command, arg, env }).find(
      ([, value]) => value !== undefined,
    )?.[0]
    if (field !== undefined)
      throw new ToolError(
        'INVALID_INPUT',
        `${field}: a server that is reached over HTTP is not started by the agent`,
        { field, suggestion: `Leave out --${field}, or --url` },
      )
    return { transport: 'http', url: readUrl(url), headers: {} }
  }
  if (url !== undefined)
    throw new ToolError('INVALID_INPUT', 'url: a server that the agent starts has no address', {
      field: 'url',
      suggestion: 'Leave out --url, or say --transport http',
    })
  const { command: program, args } = command === undefined ? start : { command, args: [] }
  return {
    transport: 'stdio',
    command: program,
    args: [...args, ...(arg ?? []), '--serve-mcp', 'stdio'],
    env: Object.fromEntries((env ?? []).map(readVariable)),
  }
}

function readUrl(url: string | undefined): string {
  const example = 'Give the address of the endpoint, such as --url http://127.0.0.1:8080/mcp'
  if (url === undefined)
    throw new ToolError(
      'MISSING_PARAM',
      'url: a server that is reached over HTTP needs an address',
      { field: 'url', suggestion: example },
    )
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new ToolError('INVALID_INPUT', `url: '${url}' is not an http or https address`, {
      field: 'url',
      suggestion: example,
    })
  return url
}

function readVariable(given: string): [string, string] {
  const [, name, value] = /^([A-Za-z_][A-Za-z0-9_]*)=([^]*)$/.exec(given) ?? []
  if (name === undefined || value === undefined)
    throw new ToolError('INVALID_INPUT', `env: '${given}' is not NAME=value`, {
      field: 'env',
      suggestion: 'Write it as --env NAME=value',
    })
  if (name === MARK_VARIABLE)
    throw new ToolError(
      'INVALID_INPUT',
      `env: ${name} is how entries are marked, and cannot be set`,
      { field: 'env' },
    )
  return [name, value]
}
