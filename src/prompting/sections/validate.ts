import { checkExamples } from '../../define/check-examples.ts'
import { compileParams } from './check-params.ts'
import { nameFailure } from './section.ts'
import { checkToolNames } from './tree.ts'
import type { PromptParts } from './tree.ts'

/** Compiles params and tools of all sections, enabled or not, and checks the examples of the tools; throws CONFIG with the place. */
export async function validatePrompt(parts: PromptParts): Promise<void> {
  compileParams(parts)
  for (const { section, path } of parts.placed.values()) {
    await section.prepare?.()
    for (const { entry } of section.tools()) {
      try {
        await checkExamples(await entry.definition.compiled())
      } catch (error) {
        throw nameFailure(`section '${path}' of prompt '${parts.name}'`, error)
      }
    }
  }
  checkToolNames(parts.placed.values())
}
