/**
 * Loads a workflow that a JavaScript or TypeScript module exports.
 */

import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { getPackageVersion } from '../../core/cache.ts'
import { describeError, parseStackLocations } from '../../functions/import-error.ts'
import { getModuleUrl, importModule } from '../../functions/import-module.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { isBuiltWorkflow } from '../workflow-types.ts'
import type { Workflow } from './model.ts'
import { createProblemsError } from './reader.ts'

/**
 * The workflow that a file of code, JavaScript or TypeScript, exports: its default, or the only
 * one. Throws CONFIG when the file cannot be imported, fails while it writes the workflow, or
 * exports several.
 */
export async function importWorkflow(file: string, shown: string): Promise<Workflow> {
  const refuse =
    (what: string) =>
    (error: unknown): never => {
      throw toModuleError(error, { file, shown, what })
    }
  const exported = await importModuleExports(file).catch(refuse('importing it failed'))
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

async function importModuleExports(file: string): Promise<{ readonly [name: string]: unknown }> {
  return (await importModule(getModuleUrl(file), {
    folders: [dirname(file)],
    cacheFolder: undefined,
    version: getPackageVersion(),
  })) as { readonly [name: string]: unknown }
}

/**
 * The CONFIG error for code that failed before it had made a workflow: the line of the file, what
 * failed, and why. An error with places in the workflow stays as it is.
 */
function toModuleError(
  thrown: unknown,
  { file, shown, what }: { readonly file: string; readonly shown: string; readonly what: string },
): ToolError {
  const known = ToolError.is(thrown) ? thrown : undefined
  if (known?.details?.['problems'] !== undefined) return known
  const at = findErrorPlace(thrown, file, shown)
  const [words] = (known?.message ?? describeError(thrown)).split('\n', 1)
  return createProblemsError([
    {
      ...at,
      path: '',
      message: `${what}: ${words}`,
      fix:
        known?.suggestion?.fix ??
        `Look at ${at.line === undefined ? at.file : `${at.file}:${at.line}`}`,
    },
  ])
}

// An error may come from code that the file only calls. The place in the file is better then.
function findErrorPlace(
  thrown: unknown,
  file: string,
  shown: string,
): { readonly file: string; readonly line?: number } {
  const isSameFile = (named: string): boolean => named === file || named === realpathSync(file)
  const places = parseStackLocations((thrown as Partial<Error> | null | undefined)?.stack ?? '')
  const own = places.find((place) => isSameFile(place.file))
  if (own) return { file: shown, line: own.line }
  return places[0] ?? { file: shown }
}
