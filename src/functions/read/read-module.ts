import { basename } from 'node:path'
import type { LocatedModule } from '../locate/locate-module.ts'
import { findPackageOf } from '../locate/package-of.ts'
import type { FunctionManifest, FunctionProblem, ModuleManifest } from '../manifest.ts'
import { loadCompiler } from './compiler.ts'
import { findTypes } from './find-types.ts'
import { listExports } from './list-exports.ts'
import { openProgram } from './open-program.ts'
import type { MissingImport } from './open-program.ts'
import { readFunction } from './read-function.ts'

/** What was read, and what it was read from: when one of the files is another one, so may be the manifest. */
export type ReadModule = {
  readonly manifest: ModuleManifest
  readonly files: readonly string[]
  /** False where imports lead nowhere: what was read may be another thing tomorrow. */ readonly isWhole: boolean
  /** The module exports tools and toolsets too. */ readonly hasTools: boolean
}

/** Reads the functions of a module by its types. Throws CONFIG where there is no compiler. */
export async function readModule(
  located: LocatedModule,
  { strict, cwd }: { readonly strict: boolean; readonly cwd: string },
): Promise<ReadModule> {
  const compiler = loadCompiler([located.folder, cwd])
  const types = findTypes(compiler.ts, located)
  const { reader, files, missing } = openProgram(compiler.ts, types, strict)
  const listed = listExports(reader, basename(located.file).replace(/\.\w+$/, ''))
  const functions = new Map<string, FunctionManifest>()
  const problems: FunctionProblem[] = [...missing.map(tellMissing), ...listed.problems]
  for (const each of listed.functions) {
    const read = await readFunction(reader, each)
    problems.push(...read.problems)
    if (!read.manifest) continue
    const other = functions.get(read.manifest.name)
    if (!other) functions.set(read.manifest.name, read.manifest)
    else
      problems.push({
        export: each.path,
        file: read.manifest.file,
        line: read.manifest.line,
        reason: 'duplicate',
        message: `'${other.export}' and '${each.path}' would both be the tool '${other.name}'`,
        fix: `Give one of them another name: @alias other_name`,
        severity: 'error',
      })
  }
  const { name, version, description } = located
  return {
    manifest: {
      name,
      ...(version !== undefined && { version }),
      ...(description !== undefined && { description }),
      functions: [...functions.values()],
      problems,
    },
    files: [...new Set([located.file, ...files, compiler.manifest, ...packageFiles(located.file)])],
    isWhole: missing.length === 0,
    hasTools: listed.hasTools,
  }
}

function tellMissing({ specifier, file, line }: MissingImport): FunctionProblem {
  const name = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0]
  const fix = /^[./]/.test(specifier)
    ? 'Check the path'
    : `Install it: npm install ${name}; or say in "paths" of tsconfig.json what it stands for`
  return {
    export: '',
    file,
    line,
    reason: 'import',
    message: `the import '${specifier}' leads nowhere`,
    fix,
    severity: 'warning',
  }
}

// Name, version and description come from there, and so does what a module is.
function packageFiles(file: string): readonly string[] {
  const own = findPackageOf(file)
  return own ? [own.file] : []
}
