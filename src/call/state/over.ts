import { ToolError } from '../../contract/tool-error.ts'

/** The error of what a call left running when it was over. */
export function isOver(): ToolError {
  return new ToolError(
    'CANCELLED',
    'the call is over: its state, files and members are closed to what it left running',
  )
}
