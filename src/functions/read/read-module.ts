import { basename } from 'node:path'
import type { LocatedModule } from '../locate/locate-module.ts'
import type { FunctionManifest, FunctionProblem, ModuleManifest } from '../manifest.ts'
import { loadCompiler } from './compiler.ts'
import { findTypes } from './find-types.ts'
import { listExports } from './list-exports.ts'
import { openProgram } from './open-program.ts'
import { readFunction } from './read-function.ts'

/** What was read, and what it was read from: when one of the files is another one, so may be the manifest. */
export type ReadModule = { readonly manifest: ModuleManifest; readonly files: readonly string[]; /** The module exports tools and toolsets too. */ readonly hasTools: boolean }

/** Reads the functions of a module by its types. Throws CONFIG where there is no compiler. */
export async function readModule(located: LocatedModule, { strict, cwd }: { readonly strict: boolean; readonly cwd: string }): Promise<ReadModule> {
  const compiler = loadCompiler([located.folder, cwd])
  const types = findTypes(compiler.ts, located)
  const { reader, files } = openProgram(compiler.ts, types, strict)
  const listed = listExports(reader, basename(located.file).replace(/\.\w+$/, ''))
  const functions = new Map<string, FunctionManifest>()
  const problems: FunctionProblem[] = [...listed.problems]
  for (const each of listed.functions) {
    const read = await readFunction(reader, each)
    problems.push(...read.problems)
    if (!read.manifest) continue
    const other = functions.get(read.manifest.name)
    if (!other) functions.set(read.manifest.name, read.manifest)
    else problems.push({ export: each.path, file: read.manifest.file, line: read.manifest.line, reason: 'duplicate', message: `'${other.export}' and '${each.path}' would both be the tool '${other.name}'`, fix: `Give one of them another name: @alias other_name`, severity: 'error' })
  }
  const { name, version, description } = located
  return {
    manifest: { name, ...(version !== undefined && { version }), ...(description !== undefined && { description }), functions: [...functions.values()], problems },
    files: [...new Set([located.file, ...files, compiler.manifest])],
    hasTools: listed.hasTools,
  }
}
