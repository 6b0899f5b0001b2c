/**
 * An MCP server: its tools, resources and prompts.
 */

import { toToolError } from '../../core/errors.ts'
import type { McpConnection, McpServices } from '../mcp/connection.ts'
import { createMcpConnection } from '../mcp/connection.ts'
import { hideSecrets, suggestManualCheck } from '../mcp/session.ts'
import type { McpServerConfig, McpSettings } from '../mcp/transports.ts'
import { describeServerLocation, isServerDisabled, readMcpSettings } from '../mcp/transports.ts'
import type { LoadedSource, ToolSource } from '../source.ts'
import { toBrokenSource } from '../source.ts'

/** Opens a server. It is started by the first `load`, kept open, and started again after it ended. */
export function openSource(
  config: McpServerConfig,
  services: McpServices,
  name: string,
): ToolSource {
  const listeners: (() => void)[] = []
  const onChange = (): void => listeners.forEach((listener) => listener())
  const location = describeServerLocation(config)
  let settings: McpSettings | undefined
  let connection: McpConnection | undefined
  let wasListed = false

  const toDeadServer = (thrown: unknown): LoadedSource => {
    const { code, message, suggestion, details } = toToolError(thrown)
    const stderr = typeof details?.['stderr'] === 'string' ? `\n${details['stderr']}` : ''
    if (!settings) {
      const reason = code === 'CONFIG' ? 'config' : 'dead'
      const fix = suggestion?.fix ?? 'Mend its configuration'
      return toBrokenSource(name, location, reason, `${message}${stderr}`, fix)
    }
    const shown = hideSecrets(`${message}${stderr}`, settings)
    const fix = suggestion?.fix ?? suggestManualCheck(settings)
    return toBrokenSource(name, location, 'dead', shown, fix)
  }

  return {
    name,
    kind: 'mcp server',
    location,
    async load(context) {
      if (isServerDisabled(config)) return { tools: [] }
      try {
        settings ??= readMcpSettings(name, config, context)
        connection ??= createMcpConnection(settings, services, onChange)
        const { listMcpServer } = await import('../mcp/list-server.ts')
        const listed = await listMcpServer(connection, settings, wasListed)
        wasListed = true
        return listed
      } catch (error) {
        return toDeadServer(error)
      }
    },
    onChange: (listener) => void listeners.push(listener),
    close: async () => connection?.close(),
  }
}
