import type { ToolableCommand } from '../command.ts'
import { graphCommand } from './graph-command.ts'
import { planCommand } from './plan-command.ts'
import { workflowRunCommands } from './run-commands.ts'
import { validateCommand } from './validate-command.ts'

/** `toolable workflow ...`, in the order in which help shows them. */
export const workflowCommands: readonly ToolableCommand[] = [
  ...workflowRunCommands,
  validateCommand,
  planCommand,
  graphCommand,
]
