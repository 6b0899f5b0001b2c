import { dirname } from 'node:path'
import { ToolError } from '../../contract/tool-error.ts'
import { ownVersion } from '../../call/own-version.ts'
import { importModule } from '../../functions/load/import-module.ts'
import { moduleAddress } from '../../functions/load/module-address.ts'
import type { Workflow } from '../definition/workflow-type.ts'
import { isBuiltWorkflow } from './author.ts'
import { codeFailure } from './code-failure.ts'

/** The workflow that a file of code, JavaScript or TypeScript, exports: its default, or the only one. Throws CONFIG where the file cannot be imported, fails while it writes the workflow, or leaves open which one is meant. */
export async function importWorkflow(file: string, shown: string): Promise<Workflow> {
  const refuse =
    (what: string) =>
    (error: unknown): never => {
      throw codeFailure(error, { file, shown, what })
    }
  const exported = await importAll(file).catch(refuse('importing it failed'))
  const found = isBuiltWorkflow(exported['default'])
    ? [exported['default']]
    : [...new Set(Object.values(exported).filter(isBuiltWorkflow))]
  if (found.length === 1)
    return found[0]!
      .definition()
      .catch(refuse(`the workflow '${found[0]!.name}' cannot be written`))
  const problem =
    found.length === 0
      ? 'exports no workflow'
      : `exports several workflows: ${found.map(({ name }) => name).join(', ')}`
  throw new ToolError('CONFIG', `${shown} ${problem}`, {
    suggestion:
      "Export one as its default: export default workflow({ name: 'tidy' }, (w) => { ... })",
    details: { file: shown },
  })
}

async function importAll(file: string): Promise<{ readonly [name: string]: unknown }> {
  return (await importModule(moduleAddress(file), {
    folders: [dirname(file)],
    cacheFolder: undefined,
    version: ownVersion(),
  })) as { readonly [name: string]: unknown }
}
