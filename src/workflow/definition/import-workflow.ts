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
 * one. Throws CONFIG where the file cannot be imported, fails while it writes the workflow, or
 * leaves open which one is meant.
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
 * The CONFIG error about code that failed before it had made a workflow: the line of the file where
 * that was, what failed, and why. An error that tells places in the workflow stays as it is.
 */
function toModuleError(
  thrown: unknown,
  { file, shown, what }: { readonly file: string; readonly shown: string; readonly what: string },
): ToolError {
  const known = ToolError.is(thrown) ? thrown : undefined
  if (known?.details?.['problems'] !== undefined) return known
  const place = findErrorPlace(thrown, file)
  const at =
    place === undefined
      ? { file: shown }
      : isSameFile(place.file, file)
        ? { file: shown, line: place.line }
        : place
  const [words] = (known?.message ?? describeError(thrown)).split('\n', 1)
  return createProblemsError([
    {
      ...at,
      path: '',
      message: `${what}: ${words}`,
      fix: known?.suggestion?.fix ?? `Look at ${at.file}${'line' in at ? `:${at.line}` : ''}`,
    },
  ])
}

// What failed may be code that the file only calls: where it did is told, and else where the
// failure was.
function findErrorPlace(
  thrown: unknown,
  file: string,
): { readonly file: string; readonly line: number } | undefined {
  const places = parseStackLocations((thrown as Partial<Error> | null | undefined)?.stack ?? '')
  return places.find((place) => isSameFile(place.file, file)) ?? places[0]
}

function isSameFile(named: string, file: string): boolean {
  return named === file || named === realpathSync(file)
}
