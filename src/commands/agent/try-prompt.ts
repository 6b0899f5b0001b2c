import { ToolError } from '../../contract/tool-error.ts'
import { createState } from '../../call/state/create-state.ts'
import type { AgentPrompt } from '../../prompting/agent/prompt-type.ts'
import { loadPrompt } from './load-model.ts'
import type { AgentSettings } from './settings.ts'

/** Loads and renders the prompt once, so that params that do not fit are told before a run begins. Throws what keeps it from being rendered. */
export async function tryPrompt(
  path: string,
  params: AgentSettings['params'],
  cwd: string,
): Promise<void> {
  const prompt = (await loadPrompt(path, cwd)) as AgentPrompt
  const state = createState()
  try {
    await prompt.render(params as never, { state })
  } catch (error) {
    if (!ToolError.is(error) || error.field === undefined) throw error
    const { message, field, details } = error
    throw new ToolError('INVALID_INPUT', message, {
      field: 'params',
      cause: error,
      details: { ...details, param: field },
      suggestion: `Give the params of the prompt as one JSON object: --params '{"name": "value"}'`,
    })
  } finally {
    await state.close()
  }
}
