import type { PromptManifest, ToolsetManifest } from '../../../contract/manifest.ts'
import { columns, titled } from './layout.ts'
import type { Page } from './layout.ts'

/** The resources and prompts of a program. */
export function contentSections(page: Page, manifest: ToolsetManifest): string[][] {
  return [
    titled(
      page,
      'Resources',
      columns(
        page,
        manifest.resources.map(({ uri, summary }) => ({ term: uri, text: summary })),
      ),
    ),
    titled(
      page,
      'Prompts',
      columns(
        page,
        manifest.prompts.map((prompt) => ({ term: promptSignature(prompt), text: prompt.summary })),
      ),
    ),
  ]
}

/** `review(code, style?)`. */
export function promptSignature({ name, arguments: given }: PromptManifest): string {
  return given.length === 0
    ? name
    : `${name}(${given.map((argument) => (argument.required ? argument.name : `${argument.name}?`)).join(', ')})`
}
