import { markComment } from '../mark.ts'
import type { DocModel } from '../model/model.ts'
import type { GeneratedFile } from './generated-file.ts'
import { referencePage } from './reference.ts'

/** One page of reference for people. */
export function writeMarkdown(model: DocModel): GeneratedFile[] {
  return [
    { path: `docs/${model.name}.md`, text: referencePage(model, markComment(model, 'markdown')) },
  ]
}
