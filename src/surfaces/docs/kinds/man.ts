import { manPage } from '../man/page.ts'
import type { DocModel } from '../model/model.ts'
import type { GeneratedFile } from './generated-file.ts'

/** The manual page. */
export function writeMan(model: DocModel): GeneratedFile[] {
  return [{ path: `man/${model.name}.1`, text: manPage(model) }]
}
