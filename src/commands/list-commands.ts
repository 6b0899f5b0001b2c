import { agentCommand } from './agent/command.ts'
import { buildCommand } from './build/command.ts'
import { callCommand } from './call/command.ts'
import { checkCommand } from './check/command.ts'
import type { ToolableCommand } from './command.ts'
import { describeCommand, schemaCommand } from './describe/command.ts'
import { doctorCommand } from './doctor/command.ts'
import { initCommand } from './init/command.ts'
import { listCommand } from './list/command.ts'
import { planCommands } from './plan/commands.ts'
import { readHelpCommand } from './read-help.ts'
import { rescanCommand } from './rescan.ts'
import { answerCommand, cancelCommand, resumeCommand } from './control/commands.ts'
import { runCommand } from './run/command.ts'
import { runsCommands } from './runs/commands.ts'
import { serveCommands } from './serve/commands.ts'
import { uiCommand } from './ui/command.ts'
import { workerCommand } from './worker/command.ts'
import { workflowCommands } from './workflow/commands.ts'

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
