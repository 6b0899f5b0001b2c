import { isObject } from '../contract/json.ts'
import type { McpOptions } from '../contract/manifest.ts'
import { ToolError } from '../contract/tool-error.ts'
import { checkOptions } from './names.ts'

const OPTIONS = ['task', 'text', 'meta'] as const satisfies readonly (keyof McpOptions)[]
const TASKS = ['never', 'auto', 'required'] as const satisfies readonly McpOptions['task'][]

/** Refuses what cannot be meant in the `mcp` option of a tool; throws CONFIG. */
export function checkMcpOptions(tool: string, given: unknown): asserts given is McpOptions {
  const what = `'mcp' of tool '${tool}'`
  if (!isObject(given)) throw new ToolError('CONFIG', `${what} must be an object: { task, text, meta }`)
  checkOptions(what, given, OPTIONS)
  const { task, text, meta } = given as { readonly [Option in keyof McpOptions]: unknown }
  if (task !== undefined && !TASKS.includes(task as 'never')) throw new ToolError('CONFIG', `'task' in ${what} must be one of ${TASKS.join(', ')}, not ${JSON.stringify(task)}`)
  if (text !== undefined && typeof text !== 'boolean') throw new ToolError('CONFIG', `'text' in ${what} must be true or false`)
  if (meta !== undefined && !isObject(meta)) throw new ToolError('CONFIG', `'meta' in ${what} must be an object`)
}
