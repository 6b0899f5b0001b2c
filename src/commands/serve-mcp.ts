import type { ParsedCommand } from '../cli/command.ts'
import { runBuiltin } from '../cli/run-builtin.ts'
import type { CommandHost } from '../cli/types.ts'
import type { Io } from '../protocol/io.ts'
import { withRegistry } from './config.ts'

/**
 * `toolable mcp serve` and `--serve-mcp`, which `toolable mcp add` gives to agents: they too serve
 * the registry, not the commands.
 */
export function serveRegistryBuiltin(
  command: ParsedCommand & { kind: 'builtin' },
  io: Io,
  host: CommandHost,
): Promise<number> {
  return withRegistry({}, io, async (registry) => {
    await registry.prepare?.()
    return runBuiltin(registry, command, io, host)
  })
}
