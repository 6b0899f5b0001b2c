/**
 * The command line of `toolable`.
 *
 * main() finds out what is asked: a command of table.ts, a module (`toolable ./tools.ts find-files`), or `--list` and `--describe`. Definitions (name, flags, summary) are in definitions/ and load at every start; what a command does is in a file of its own that its definition loads with import(). command.ts has what definitions share, config.ts reads toolable.yaml and opens the registry.
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
import type { ModuleCommandLine } from './argv.ts'
import { findModule, findRegistryQuery, hoistCommonFlags } from './argv.ts'
import type { ToolableCommand } from './command.ts'
import { SUPERVISE_COMMAND } from './command.ts'
import { listCommands } from './table.ts'

/**
 * The command line of `toolable`, whose commands are the tools of `program`; gives the exit status.
 */
export async function main(
  program: Servable,
  given: readonly string[],
  io: Io,
  host: CommandHost,
): Promise<number> {
  if (given[0] === SUPERVISE_COMMAND)
    return (await import('./run/supervise.ts')).superviseRun(given.slice(1), io, host)
  const question = findRegistryQuery(given)
  const argv = hoistCommonFlags(question?.argv ?? given)
  const commands = listCommands()
  const module = question ? undefined : findModule(argv, commands, io.cwd)
  if (module) return runModuleProgram(module, program, io, host)
  const command = parseCommand(program, argv)
  try {
    if (question) return await (await import('./describe.ts')).answerRegistryQuery(question, io)
    if (command.kind === 'tool') return await runCommand(commands, program, command, io, host)
    if (command.kind === 'builtin' && command.name === COMPLETE_COMMAND)
      return await (await import('./complete.ts')).complete(program, command.rest, io, host)
    if (command.kind === 'builtin' && command.name === 'mcp' && command.rest[0] === 'serve')
      return await (await import('./serve-mcp.ts')).serveRegistryBuiltin(command, io, host)
  } catch (error) {
    return (await import('../cli/failure.ts')).printFailure(program, error, command, io, host)
  }
  return runProgram(program, argv, io, host)
}

async function runModuleProgram(
  words: ModuleCommandLine,
  program: Servable,
  io: Io,
  host: CommandHost,
): Promise<number> {
  try {
    return await (await import('./run-module.ts')).runModule(words, io, host)
  } catch (error) {
    return (await import('../cli/failure.ts')).printFailure(program, error, undefined, io, host)
  }
}

async function runCommand(
  commands: readonly ToolableCommand[],
  program: Servable,
  command: ParsedCommand & { kind: 'tool' },
  io: Io,
  host: CommandHost,
): Promise<number> {
  const own = commands.find(({ path }) => path.join(' ') === command.entry.path.join(' '))!
  if (own.path[0] === 'call') return (await import('./call.ts')).runCall(program, command, io, host)
  if (own.path[0] === 'run')
    return (await import('./run/run.ts')).runRunCommand(program, command, io, host)
  if (own.path[0] === 'resume')
    return (await import('./control/resume.ts')).runResumeCommand(program, command, io, host)
  const { createBuiltinPerformer, runTool } = await import('../cli/call.ts')
  const perform = own.start
    ? createBuiltinPerformer(own.start, program, io, host)
    : createPerform(own, host)
  return runTool(program, command, io, host, perform)
}

// A command is called like any tool; only what is seen of its result is its own.
function createPerform(own: ToolableCommand, host: CommandHost): CallPerformer {
  return async (call) => {
    const [{ callTool }, { redirectStrayOutput }] = await Promise.all([
      import('../cli/call.ts'),
      import('../cli/stray-output.ts'),
    ])
    host.prepareForTools(redirectStrayOutput)
    let outcome: Outcome | undefined
    const observer = {
      onEvent: () => undefined,
      onQuestion: () => undefined,
      ...call.observer,
      onOutcome: (...[ended, form]: Parameters<NonNullable<typeof call.observer>['onOutcome']>) => {
        outcome = ended
        call.observer?.onOutcome(ended, form)
      },
    }
    const status =
      own.text && call.presentation.mode === 'text'
        ? await callTool({
            ...call,
            observer,
            renderResult: await own.text(),
            globals: own.tellsAll ? { ...call.globals, quiet: true } : call.globals,
          })
        : await callTool({ ...call, observer })
    return outcome?.ok && own.exit ? own.exit(outcome.result) : status
  }
}
