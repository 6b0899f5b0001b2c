import { ToolError } from '../../../contract/tool-error.ts'
import type { JsonObject } from '../../../contract/json.ts'
import type { ToolStep } from '../../definition/workflow-type.ts'
import type { ToolCall } from '../../engines/engine-type.ts'
import { fill } from '../../expressions/fill.ts'
import { fillCommand } from '../../expressions/fill-command.ts'
import type { Scope } from '../../expressions/scope-type.ts'
import { act } from '../flow.ts'
import { pathOf, succeed } from '../frame.ts'
import type { StepKind } from '../frame.ts'

/** A call of a tool. Its time is kept by whoever performs it. */
export const tool: StepKind<ToolStep> = {
  retries: true,
  timed: false,
  *take(step, { scope, path: around }, path, attempt) {
    const { timeout, permissions } = step
    const call: ToolCall = {
      step: pathOf(around, step.name),
      attempt,
      ...wordsOf(step, scope),
      ...(timeout !== undefined && { timeout }),
      ...(permissions && { permissions }),
    }
    const { value, run_id } = yield* act({ kind: 'tool', key: path, call })
    return succeed(value, run_id)
  },
}

function wordsOf(step: ToolStep, scope: Scope): Pick<ToolCall, 'tool' | 'given' | 'command'> {
  if ('tool' in step)
    return {
      tool: step.tool,
      given: { input: (step.input === undefined ? {} : fill(step.input, scope)) as JsonObject },
    }
  const [name, ...args] = fillCommand(step.command, scope)
  if (name === undefined || name === '')
    throw new ToolError('INVALID_INPUT', `the command of '${step.name}' names no tool`)
  return { tool: name, given: { args }, command: step.command }
}
