/**
 * The command line of `toolable`.
 *
 * main() finds out what is asked: a command of table.ts, a module (`toolable ./tools.ts find-files`), or `--list` and `--describe`. Definitions (name, flags, summary) are in definitions/ and load at every start; what a command does is in another file that its definition loads with import(). command.ts has what commands share, config.ts reads toolable.yaml and opens the registry.
 */

import { COMPLETE_COMMAND } from '../cli/builtin-names.ts'
import type { CallPerformer } from '../cli/call.ts'
import type { ParsedCommand } from '../cli/command.ts'
import { parseCommand } from '../cli/command.ts'
import { main as runProgram } from '../cli/main.ts'
import type { CommandHost } from '../cli/types.ts'
import type { Servable } from '../core/provider.ts'
import type { Io } from '../protocol/io.ts'
import type { Outcome } from '../protocol/outcome.ts'
import { compact } from '../util/values.ts'
import { findModule, findRegistryQuery, hoistCommonFlags } from './argv.ts'
import type { ToolableCommand, ToolInvocation } from './command.ts'
import { SUPERVISE_COMMAND } from './command.ts'
import { withRegistry } from './config.ts'
import { COMMANDS, findCommand } from './table.ts'

/** Runs a command line of `toolable`, whose commands are the tools of `program`; gives the exit status. */
export async function main(
  program: Servable,
  given: readonly string[],
  io: Io,
  host: CommandHost,
): Promise<number> {
  if (given[0] === SUPERVISE_COMMAND)
    return (await import('./run/supervise.ts')).superviseRun(given.slice(1), io, host)
  const query = findRegistryQuery(given)
  const argv = hoistCommonFlags(query?.argv ?? given, COMMANDS)
  const module = query ? undefined : findModule(argv, COMMANDS, io.cwd)
  const command = module ? undefined : parseCommand(program, argv)
  try {
    if (module) return await (await import('./run-module.ts')).runModule(module, io, host)
    if (query) return await (await import('./describe.ts')).answerRegistryQuery(query, io)
    if (command?.kind === 'tool') return await runCommand(program, command, io, host)
    if (command?.kind === 'builtin' && command.name === COMPLETE_COMMAND)
      return await (await import('./complete.ts')).complete(program, command.rest, io, host)
    if (command?.kind === 'builtin' && command.name === 'mcp' && command.rest[0] === 'serve')
      return await serveRegistry(command, io, host)
  } catch (error) {
    return (await import('../cli/failure.ts')).printFailure(program, error, command, io, host)
  }
  return runProgram(program, argv, io, host)
}

// `toolable mcp serve` and `--serve-mcp`, which `toolable mcp add` gives to agents, serve the
// registry and not the commands.
async function serveRegistry(
  command: ParsedCommand & { kind: 'builtin' },
  io: Io,
  host: CommandHost,
): Promise<number> {
  const { runBuiltin } = await import('../cli/run-builtin.ts')
  return withRegistry({}, io, async (registry) => {
    await registry.prepare?.()
    return runBuiltin(registry, command, io, host)
  })
}

async function runCommand(
  program: Servable,
  command: ToolInvocation,
  io: Io,
  host: CommandHost,
): Promise<number> {
  const own = findCommand(command.entry.path)!
  if (own.runRaw) return own.runRaw(command, { set: program, io, host, globals: command.globals })
  const { createBuiltinPerformer, runTool } = await import('../cli/call.ts')
  const perform = own.start
    ? createBuiltinPerformer(own.start, program, io, host)
    : createPerform(own, host)
  return runTool(program, command, io, host, perform)
}

// A command is called like any tool; only how its result is shown, and its exit status, differ.
function createPerform(own: ToolableCommand, host: CommandHost): CallPerformer {
  return async (call) => {
    const [{ callTool }, { redirectStrayOutput }] = await Promise.all([
      import('../cli/call.ts'),
      import('../cli/stray-output.ts'),
    ])
    host.prepareForTools(redirectStrayOutput)
    let outcome: Outcome | undefined
    const observer: NonNullable<typeof call.observer> = {
      onEvent: () => undefined,
      onQuestion: () => undefined,
      ...call.observer,
      onOutcome: (ended, form) => {
        outcome = ended
        call.observer?.onOutcome(ended, form)
      },
    }
    const renderResult = call.presentation.mode === 'text' ? await own.text?.() : undefined
    const globals =
      renderResult && own.tellsAll ? { ...call.globals, quiet: true as const } : call.globals
    const status = await callTool({ ...call, observer, globals, ...compact({ renderResult }) })
    return outcome?.ok && own.exit ? own.exit(outcome.result) : status
  }
}
