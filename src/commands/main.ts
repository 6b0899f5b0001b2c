import type { Servable } from '../call/servable.ts'
import type { Io } from '../contract/io.ts'
import type { Outcome } from '../contract/outcome.ts'
import { findCommand } from '../surfaces/cli/argv/command.ts'
import type { Command } from '../surfaces/cli/argv/command.ts'
import { COMPLETE_COMMAND } from '../surfaces/cli/builtin-commands.ts'
import type { Host } from '../surfaces/cli/host.ts'
import { main as runProgram } from '../surfaces/cli/main.ts'
import type { Perform } from '../surfaces/cli/start-call.ts'
import type { ToolableCommand } from './command.ts'
import { findModule } from './functions/find-module.ts'
import type { ModuleWords } from './functions/find-module.ts'
import { hoistCommonFlags } from './hoist.ts'
import { listCommands } from './list-commands.ts'
import { findQuestion } from './questions/find.ts'
import { SUPERVISE } from './run/supervise-word.ts'

/** The command line of `toolable`, whose commands are the tools of `program`; gives the exit status. */
export async function main(
  program: Servable,
  given: readonly string[],
  io: Io,
  host: Host,
): Promise<number> {
  if (given[0] === SUPERVISE)
    return (await import('./run/supervise.ts')).superviseRun(given.slice(1), io, host)
  const question = findQuestion(given)
  const argv = hoistCommonFlags(question?.argv ?? given)
  const commands = listCommands()
  const module = question ? undefined : findModule(argv, commands, io.cwd)
  if (module) return runModule(module, program, io, host)
  const command = findCommand(program, argv)
  try {
    if (question) return await (await import('./questions/answer.ts')).answerQuestion(question, io)
    if (command.kind === 'tool') return await runCommand(commands, program, command, io, host)
    if (command.kind === 'builtin' && command.name === COMPLETE_COMMAND)
      return await (await import('./complete.ts')).complete(program, command.rest, io, host)
    if (command.kind === 'builtin' && command.name === 'mcp' && command.rest[0] === 'serve')
      return await (await import('./serve/serve-builtin.ts')).serveBuiltin(command, io, host)
  } catch (error) {
    return (await import('../surfaces/cli/fail.ts')).printFailure(program, error, command, io, host)
  }
  return runProgram(program, argv, io, host)
}

async function runModule(
  words: ModuleWords,
  program: Servable,
  io: Io,
  host: Host,
): Promise<number> {
  try {
    return await (await import('./functions/run-module.ts')).runModule(words, io, host)
  } catch (error) {
    return (await import('../surfaces/cli/fail.ts')).printFailure(
      program,
      error,
      undefined,
      io,
      host,
    )
  }
}

async function runCommand(
  commands: readonly ToolableCommand[],
  program: Servable,
  command: Command & { kind: 'tool' },
  io: Io,
  host: Host,
): Promise<number> {
  const own = commands.find(({ path }) => path.join(' ') === command.entry.path.join(' '))!
  if (own.path[0] === 'call')
    return (await import('./call/call.ts')).runCall(program, command, io, host)
  if (own.path[0] === 'run')
    return (await import('./run/run.ts')).runRun(program, command, io, host)
  if (own.path[0] === 'resume')
    return (await import('./control/resume.ts')).runResume(program, command, io, host)
  const { runTool } = await import('../surfaces/cli/run-tool.ts')
  return runTool(
    program,
    command,
    io,
    host,
    own.start
      ? (await import('../surfaces/builtin/start.ts')).performStart(own.start, program, io, host)
      : perform(own, host),
  )
}

// A command is called like any tool; only what is seen of its result is its own.
function perform(own: ToolableCommand, host: Host): Perform {
  return async (call) => {
    const [{ callTool }, { redirectStrayOutput }] = await Promise.all([
      import('../surfaces/cli/call-tool.ts'),
      import('../surfaces/cli/stray-output.ts'),
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
    const status = await callTool({
      ...call,
      observer,
      ...(own.text &&
        call.presentation.mode === 'text' && {
          renderResult: await own.text(),
          ...(own.tellsAll && { globals: { ...call.globals, quiet: true } }),
        }),
    })
    return outcome?.ok && own.exit ? own.exit(outcome.result) : status
  }
}
