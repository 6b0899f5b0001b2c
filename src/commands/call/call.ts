import type { Io } from '../../contract/io.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { ToolEntry } from '../../call/collect.ts'
import type { Servable } from '../../call/servable.ts'
import type { Command } from '../../surfaces/cli/argv/command.ts'
import { printFailure } from '../../surfaces/cli/fail.ts'
import type { Host } from '../../surfaces/cli/host.ts'
import { printHelp } from '../../surfaces/cli/print-help.ts'
import { runTool } from '../../surfaces/cli/run-tool.ts'
import type { Surroundings } from '../config/load.ts'
import { readOwnFlags } from '../own-flags.ts'
import { withRegistry } from '../with-registry.ts'
import { oneToolView } from './one-tool-view.ts'

type ToolCommand = Command & { kind: 'tool' }

/** Calls a tool of the registry from the command line, the way a toolset program calls its own; gives the exit status. */
export async function runCall(
  program: Servable,
  command: ToolCommand,
  io: Io,
  host: Host,
): Promise<number> {
  const { flags: surroundings, name, rest, problem } = readOwnFlags<Surroundings>(command, io)
  if (command.globals.help) return printHelp(program, command, io)
  const wrong = command.problem ?? problem
  if (wrong) throw wrong
  if (name === undefined)
    throw new ToolError('MISSING_PARAM', 'tool is missing', {
      field: 'tool',
      suggestion: {
        fix: 'Name the tool to call; toolable list shows them',
        example: 'toolable call <tool> --help',
        applicability: 'has_placeholders',
      },
    })
  return withRegistry(surroundings, io, async (registry) => {
    const entry = registry.find(name)
    // Fails, and says which was meant.
    if (!entry) return (await registry.describe(name), 0)
    await registry.prepare?.()
    return callEntry(registry, entry, { ...command, tokens: rest }, io, host)
  })
}

async function callEntry(
  registry: Servable,
  found: ToolEntry,
  command: ToolCommand,
  io: Io,
  host: Host,
): Promise<number> {
  const set = oneToolView(registry, found)
  const named: ToolCommand = {
    globals: command.globals,
    builtin: true,
    kind: 'tool',
    entry: set.entries[0]!,
    single: false,
    tokens: command.tokens,
  }
  try {
    return await runTool(set, named, io, host)
  } catch (error) {
    return printFailure(set, error, named, io, host)
  }
}
