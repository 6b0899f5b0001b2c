import type { AnyTool } from '../../call/tool.ts'
import { isTool } from '../../call/tool.ts'
import { isPrompt } from '../../define/prompt.ts'
import type { Prompt } from '../../define/prompt.ts'
import { isResource } from '../../define/resource.ts'
import type { Resource } from '../../define/resource.ts'
import type { OpenedModule } from '../../functions/open-module.ts'

/** What a module exports that was made with tool(), resource() and prompt(). It has to be imported for that. */
export type ExportedTools = {
  readonly tools: readonly AnyTool[]
  readonly resources: readonly Resource[]
  readonly prompts: readonly Prompt[]
}

/** Imports a module and gives what it has made itself; undefined where that is nothing. */
export async function exportedTools({
  load,
}: Pick<OpenedModule, 'load'>): Promise<ExportedTools | undefined> {
  const values = [...new Set(Object.values(await load()))]
  const found = {
    tools: values.filter(isTool),
    resources: values.filter(isResource),
    prompts: values.filter(isPrompt),
  }
  return found.tools.length + found.resources.length + found.prompts.length > 0 ? found : undefined
}
