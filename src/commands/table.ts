/**
 * The table of all commands of `toolable`, in the order in which help shows them. A new command is
 * one file in definitions/ and one line here.
 */

import { toToolTree } from '../cli/builtin-names.ts'
import type { CommandHost, Toolset } from '../cli/types.ts'
import type { ToolableCommand } from './command.ts'
import { agentCommand, planCommands } from './definitions/agent-commands.ts'
import {
  buildCommand,
  checkCommand,
  doctorCommand,
  initCommand,
} from './definitions/project-commands.ts'
import {
  answerCommand,
  cancelCommand,
  resumeCommand,
  runsCommands,
} from './definitions/runs-commands.ts'
import { serveCommands, uiCommand, workerCommand } from './definitions/server-commands.ts'
import {
  callCommand,
  describeCommand,
  listCommand,
  readHelpCommand,
  rescanCommand,
  runCommand,
  schemaCommand,
} from './definitions/tool-commands.ts'
import { workflowCommands } from './definitions/workflow-commands.ts'

/** The commands of `toolable`, in the order in which help shows them. */
export function listCommands(): readonly ToolableCommand[] {
  return [
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
    ...runsCommands,
    ...planCommands,
    ...workflowCommands,
    uiCommand,
    ...serveCommands,
    workerCommand,
  ]
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
    tools: toToolTree(listCommands()),
  })
}

/**
 * What most starts of `toolable` do. It is built in a folder with such a tool
 * (scripts/build-itself.mjs), and what these command lines load is compiled beforehand.
 */
export const WARMUP_COMMANDS = [
  ['list'],
  ['call', 'hello', '--name', 'Ada'],
  ['call', 'hello', '{"name":"Ada"}'],
] as const
