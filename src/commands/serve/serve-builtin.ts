import type { Io } from '../../contract/io.ts'
import { runBuiltin } from '../../surfaces/builtin/run.ts'
import type { Command } from '../../surfaces/cli/argv/command.ts'
import type { Host } from '../../surfaces/cli/host.ts'
import { withRegistry } from '../with-registry.ts'

/** `toolable mcp serve` and `--serve-mcp`, which `toolable mcp add` gives to agents: they too serve the registry, not the commands. */
export function serveBuiltin(
  command: Command & { kind: 'builtin' },
  io: Io,
  host: Host,
): Promise<number> {
  return withRegistry({}, io, async (registry) => {
    await registry.prepare?.()
    return runBuiltin(registry, command, io, host)
  })
}
