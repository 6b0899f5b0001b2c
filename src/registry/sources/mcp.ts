import { ToolError } from '../../protocol/tool-error.ts'
import type { McpConnection, McpServices } from '../mcp/connection.ts'
import { createMcpConnection } from '../mcp/connection.ts'
import { hideSecrets, suggestManualCheck } from '../mcp/session.ts'
import type { McpServerConfig, McpSettings } from '../mcp/transports.ts'
import { describeServerLocation, isServerDisabled, readMcpSettings } from '../mcp/transports.ts'
import type { LoadContext, LoadedSource, Problem, ToolSource } from '../source.ts'

export type { McpServices } from '../mcp/connection.ts'
export type { McpServerConfig } from '../mcp/transports.ts'

/**
 * An MCP server: its tools, resources and prompts. It is started at the first `load`, kept open,
 * and started again when it died.
 */
export function mcpSource(
  name: string,
  config: McpServerConfig,
  services: McpServices = {},
): ToolSource {
  const listeners: (() => void)[] = []
  let open: { readonly settings: McpSettings; readonly connection: McpConnection } | undefined
  let wasListed = false
  const connect = (
    context: LoadContext,
  ): { readonly settings: McpSettings; readonly connection: McpConnection } => {
    const settings = readMcpSettings(name, config, context)
    return {
      settings,
      connection: createMcpConnection(settings, services, () => {
        for (const listener of listeners) listener()
      }),
    }
  }
  return {
    name,
    kind: 'mcp server',
    location: describeServerLocation(config),
    async load(context) {
      if (isServerDisabled(config)) return { tools: [] }
      try {
        open ??= connect(context)
        const { listMcpServer } = await import('../mcp/list-server.ts')
        const listed = await listMcpServer(open.connection, open.settings, wasListed)
        wasListed = true
        return listed
      } catch (error) {
        return toDeadServer(name, config, error, open?.settings)
      }
    },
    onChange: (listener) => void listeners.push(listener),
    async close() {
      await open?.connection.close()
    },
  }
}

function toDeadServer(
  name: string,
  config: McpServerConfig,
  error: unknown,
  settings: McpSettings | undefined,
): LoadedSource {
  const failure = ToolError.is(error)
    ? error
    : new ToolError('INTERNAL', String((error as Error)?.message ?? error))
  const stderr =
    typeof failure.details?.['stderr'] === 'string' ? `\n${failure.details['stderr']}` : ''
  const message = `${failure.message}${stderr}`
  const problem: Problem = {
    source: name,
    location: describeServerLocation(config),
    reason: failure.code === 'CONFIG' && !settings ? 'config' : 'dead',
    message: settings ? hideSecrets(message, settings) : message,
    fix:
      failure.suggestion?.fix ??
      (settings ? suggestManualCheck(settings) : 'Mend its configuration'),
    severity: 'error',
  }
  return { tools: [], problems: [problem] }
}
