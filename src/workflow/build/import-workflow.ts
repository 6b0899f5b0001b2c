import { ToolError } from '../../contract/tool-error.ts'
import { explainImport, importFile } from '../../registry/import-file.ts'
import type { Workflow } from '../definition/workflow-type.ts'
import { isBuiltWorkflow } from './author.ts'

/** The workflow that a file of code exports: its default, or the only one. Throws CONFIG where the file cannot be imported, or leaves open which one is meant. */
export async function importWorkflow(file: string, shown: string): Promise<Workflow> {
  const exported = await importFile(file).catch((error: unknown) => {
    const { message, fix } = explainImport(error, shown)
    throw new ToolError('CONFIG', message, { suggestion: fix, details: { file: shown }, cause: error })
  })
  const found = isBuiltWorkflow(exported['default']) ? [exported['default']] : [...new Set(Object.values(exported).filter(isBuiltWorkflow))]
  if (found.length === 1) return found[0]!.definition()
  const problem = found.length === 0 ? 'exports no workflow' : `exports several workflows: ${found.map(({ name }) => name).join(', ')}`
  throw new ToolError('CONFIG', `${shown} ${problem}`, { suggestion: "Export one as its default: export default workflow({ name: 'tidy' }, (w) => { ... })", details: { file: shown } })
}
