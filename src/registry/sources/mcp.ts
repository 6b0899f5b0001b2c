import { ToolError } from '../../contract/tool-error.ts'
import type { Loaded, Problem } from '../found.ts'
import { createConnection } from '../mcp/connection.ts'
import type { Connection, McpServices } from '../mcp/connection.ts'
import { hide, suggestionFor } from '../mcp/failure.ts'
import { isDisabled, locationOf, readSettings } from '../mcp/settings.ts'
import type { McpServerConfig, McpSettings } from '../mcp/settings.ts'
import type { LoadContext, Source } from '../source.ts'

export type { McpServerConfig } from '../mcp/settings.ts'
export type { McpServices } from '../mcp/connection.ts'

/** An MCP server: its tools, resources and prompts. It is started at the first `load`, kept open, and started again when it died. */
export function mcpSource(
  name: string,
  config: McpServerConfig,
  services: McpServices = {},
): Source {
  const listeners: (() => void)[] = []
  let open: { readonly settings: McpSettings; readonly connection: Connection } | undefined
  const connect = (
    context: LoadContext,
  ): { readonly settings: McpSettings; readonly connection: Connection } => {
    const settings = readSettings(name, config, context)
    return {
      settings,
      connection: createConnection(settings, services, () => {
        for (const listener of listeners) listener()
      }),
    }
  }
  return {
    name,
    kind: 'mcp server',
    location: locationOf(config),
    async load(context) {
      if (isDisabled(config)) return { tools: [] }
      try {
        open ??= connect(context)
        const { listServer } = await import('../mcp/list.ts')
        return await listServer(open.connection, open.settings)
      } catch (error) {
        return dead(name, config, error, open?.settings)
      }
    },
    onChange: (listener) => void listeners.push(listener),
    async close() {
      await open?.connection.close()
    },
  }
}

function dead(
  name: string,
  config: McpServerConfig,
  error: unknown,
  settings: McpSettings | undefined,
): Loaded {
  const failure = ToolError.is(error)
    ? error
    : new ToolError('INTERNAL', String((error as Error)?.message ?? error))
  const stderr =
    typeof failure.details?.['stderr'] === 'string' ? `\n${failure.details['stderr']}` : ''
  const message = `${failure.message}${stderr}`
  const problem: Problem = {
    source: name,
    location: locationOf(config),
    reason: failure.code === 'CONFIG' && !settings ? 'config' : 'dead',
    message: settings ? hide(message, settings) : message,
    fix: failure.suggestion?.fix ?? (settings ? suggestionFor(settings) : 'Mend its configuration'),
    severity: 'error',
  }
  return { tools: [], problems: [problem] }
}
