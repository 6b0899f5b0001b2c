/**
 * The table of all commands of `toolable`, in the order in which help shows them. A new command is
 * one definition in definitions/ and one line here: dispatch, help, completion and the moving of
 * common flags follow from it.
 */

import { toToolTree } from '../cli/builtin-names.ts'
import type { CommandHost, Toolset } from '../cli/types.ts'
import type { ToolableCommand } from './command.ts'
import {
  agentCommand,
  planAddCommand,
  planClearCommand,
  planServeCommand,
  planSetupCommand,
  planShowCommand,
  planUpdateCommand,
} from './definitions/agent-commands.ts'
import {
  buildCommand,
  checkCommand,
  doctorCommand,
  initCommand,
  serveHttpCommand,
  serveMcpCommand,
  uiCommand,
  workerCommand,
} from './definitions/project-commands.ts'
import {
  answerCommand,
  cancelCommand,
  resumeCommand,
  runsCleanCommand,
  runsExportCommand,
  runsListCommand,
  runsLogsCommand,
  runsShowCommand,
  watchCommand,
} from './definitions/runs-commands.ts'
import {
  callCommand,
  describeCommand,
  listCommand,
  readHelpCommand,
  rescanCommand,
  runCommand,
  schemaCommand,
} from './definitions/tool-commands.ts'
import {
  workflowAliases,
  workflowGraphCommand,
  workflowListCommand,
  workflowPlanCommand,
  workflowResumeCommand,
  workflowRunCommand,
  workflowValidateCommand,
} from './definitions/workflow-commands.ts'

/** The commands of `toolable`, in the order in which help shows them. */
export const COMMANDS: readonly ToolableCommand[] = [
  listCommand,
  describeCommand,
  schemaCommand,
  callCommand,
  runCommand,
  agentCommand,
  resumeCommand,
  cancelCommand,
  answerCommand,
  rescanCommand,
  checkCommand,
  doctorCommand,
  initCommand,
  buildCommand,
  readHelpCommand,
  runsListCommand,
  runsShowCommand,
  runsLogsCommand,
  runsExportCommand,
  runsCleanCommand,
  watchCommand,
  planShowCommand,
  planSetupCommand,
  planAddCommand,
  planUpdateCommand,
  planClearCommand,
  planServeCommand,
  workflowRunCommand,
  workflowResumeCommand,
  workflowListCommand,
  ...workflowAliases,
  workflowValidateCommand,
  workflowPlanCommand,
  workflowGraphCommand,
  uiCommand,
  serveMcpCommand,
  serveHttpCommand,
  workerCommand,
]

/** The command that some words begin with. No command is the beginning of another. */
export function findCommand(words: readonly string[]): ToolableCommand | undefined {
  return COMMANDS.find(({ path }) => path.every((word, index) => word === words[index]))
}

/** The program `toolable` as a toolset: its tools are its commands. */
export function createToolableProgram(
  version: string,
  makeToolset: CommandHost['makeToolset'],
): Toolset {
  return makeToolset({
    name: 'toolable',
    version,
    description:
      'Every tool of a project behind one door: find, describe, call, check and serve them, whatever they are written in',
    tools: toToolTree(COMMANDS),
  })
}

/**
 * What most starts of `toolable` do. scripts/build-itself.mjs runs them in a folder with such a
 * tool, and compiles beforehand what they load.
 */
export const WARMUP_COMMANDS = [
  ['list'],
  ['call', 'hello', '--name', 'Ada'],
  ['call', 'hello', '{"name":"Ada"}'],
] as const
