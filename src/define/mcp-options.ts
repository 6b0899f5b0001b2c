import { toMilliseconds } from '../contract/duration.ts'
import type { Duration } from '../contract/duration.ts'
import { isObject } from '../contract/json.ts'
import type { McpOptions } from '../contract/manifest.ts'
import { ToolError } from '../contract/tool-error.ts'
import { checkOptions } from './names.ts'

const OPTIONS = [
  'task',
  'taskAfter',
  'text',
  'meta',
] as const satisfies readonly (keyof McpOptions)[]
const TASKS = ['never', 'auto', 'required'] as const satisfies readonly McpOptions['task'][]

/** Refuses what cannot be meant in the `mcp` option of a tool; throws CONFIG. */
export function checkMcpOptions(tool: string, given: unknown): asserts given is McpOptions {
  const what = `'mcp' of tool '${tool}'`
  if (!isObject(given))
    throw new ToolError('CONFIG', `${what} must be an object: { task, taskAfter, text, meta }`)
  checkOptions(what, given, OPTIONS)
  const { task, taskAfter, text, meta } = given as {
    readonly [Option in keyof McpOptions]: unknown
  }
  if (task !== undefined && !TASKS.includes(task as 'never'))
    throw new ToolError(
      'CONFIG',
      `'task' in ${what} must be one of ${TASKS.join(', ')}, not ${JSON.stringify(task)}`,
    )
  if (taskAfter !== undefined) checkTaskAfter(what, task, taskAfter)
  if (text !== undefined && typeof text !== 'boolean')
    throw new ToolError('CONFIG', `'text' in ${what} must be true or false`)
  if (meta !== undefined && !isObject(meta))
    throw new ToolError('CONFIG', `'meta' in ${what} must be an object`)
}

function checkTaskAfter(what: string, task: unknown, taskAfter: unknown): void {
  if (task !== 'auto')
    throw new ToolError(
      'CONFIG',
      `'taskAfter' in ${what} says when a call becomes a task, which needs task: 'auto'`,
    )
  try {
    toMilliseconds(taskAfter as Duration)
  } catch (error) {
    throw new ToolError(
      'CONFIG',
      `'taskAfter' in ${what} cannot be used: ${(error as ToolError).message}`,
    )
  }
}
