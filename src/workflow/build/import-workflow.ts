import { dirname } from 'node:path'
import { ToolError } from '../../contract/tool-error.ts'
import { ownVersion } from '../../call/own-version.ts'
import { importModule } from '../../functions/load/import-module.ts'
import { moduleAddress } from '../../functions/load/module-address.ts'
import type { Workflow } from '../definition/workflow-type.ts'
import { isBuiltWorkflow } from './author.ts'

/** The workflow that a file of code, JavaScript or TypeScript, exports: its default, or the only one. Throws CONFIG where the file cannot be imported, or leaves open which one is meant. */
export async function importWorkflow(file: string, shown: string): Promise<Workflow> {
  const exported = await importAll(file).catch((error: unknown) => {
    throw new ToolError('CONFIG', `importing ${shown} failed: ${String((error as Partial<Error>).message ?? error).split('\n', 1)[0]}`, { suggestion: `Look at ${shown}`, details: { file: shown }, cause: error })
  })
  const found = isBuiltWorkflow(exported['default']) ? [exported['default']] : [...new Set(Object.values(exported).filter(isBuiltWorkflow))]
  if (found.length === 1) return found[0]!.definition()
  const problem = found.length === 0 ? 'exports no workflow' : `exports several workflows: ${found.map(({ name }) => name).join(', ')}`
  throw new ToolError('CONFIG', `${shown} ${problem}`, { suggestion: "Export one as its default: export default workflow({ name: 'tidy' }, (w) => { ... })", details: { file: shown } })
}

async function importAll(file: string): Promise<{ readonly [name: string]: unknown }> {
  return (await importModule(moduleAddress(file), { folders: [dirname(file)], cacheFolder: undefined, version: ownVersion() })) as { readonly [name: string]: unknown }
}
