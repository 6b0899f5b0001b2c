import { ToolError } from '../../contract/tool-error.ts'
import type { AgentSettings } from './settings.ts'

/** Refuses flags that would do nothing beside the others. Throws INVALID_INPUT. */
export function checkFlags(
  { prompt, params, tools, model, baseUrl, apiKeyFile }: AgentSettings,
  env: { readonly [name: string]: string | undefined },
): void {
  if (params !== undefined && prompt === undefined)
    throw useless('params', 'goes with --prompt only', 'Add --prompt ./file.mjs, or leave it out')
  if (tools !== undefined && prompt !== undefined)
    throw useless(
      'tools',
      'chooses tools of the registry, and --prompt brings its own',
      'Leave out one of the two',
    )
  const wanted = model ?? env['TOOLABLE_MODEL'] ?? 'openai:'
  if (wanted.startsWith('openai:')) return
  if (baseUrl !== undefined)
    throw useless(
      'base-url',
      `goes with openai:<name>, and the model is '${wanted.slice(0, 100)}'`,
      'Leave it out, or name a model with openai:',
    )
  if (apiKeyFile !== undefined)
    throw useless(
      'api-key-file',
      `goes with openai:<name>, and the model is '${wanted.slice(0, 100)}'`,
      'Leave it out: other providers have variables of their own for the key',
    )
}

function useless(flag: string, why: string, fix: string): ToolError {
  return new ToolError('INVALID_INPUT', `--${flag} ${why}`, { field: flag, suggestion: fix })
}
