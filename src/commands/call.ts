/**
 * `toolable call`: calls a tool the way a toolset program calls its own.
 */

import { runTool } from '../cli/call.ts'
import type { ParsedCommand } from '../cli/command.ts'
import { printHelp } from '../cli/documents.ts'
import { printFailure } from '../cli/failure.ts'
import type { CommandHost } from '../cli/types.ts'
import type { Servable, ToolEntry } from '../core/provider.ts'
import type { Io } from '../protocol/io.ts'
import { ToolError } from '../protocol/tool-error.ts'
import type { RegistryFlags } from './config.ts'
import { withRegistry } from './config.ts'
import { createSingleToolView, readOwnFlags } from './tool-arguments.ts'

type CallCommand = ParsedCommand & { kind: 'tool' }

/**
 * Calls a tool of the registry from the command line, the way a toolset program calls its own;
 * gives the exit status.
 */
export async function runCall(
  program: Servable,
  command: CallCommand,
  io: Io,
  host: CommandHost,
): Promise<number> {
  const { flags: surroundings, name, rest, problem } = readOwnFlags<RegistryFlags>(command, io)
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
  command: CallCommand,
  io: Io,
  host: CommandHost,
): Promise<number> {
  const set = createSingleToolView(registry, found)
  const named: CallCommand = {
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
