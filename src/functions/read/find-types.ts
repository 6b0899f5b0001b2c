import { join } from 'node:path'
import type { LocatedModule } from '../locate/locate-module.ts'
import type { Compiler } from './types/work.ts'

/** The file that has the types of a module: the module itself, or the declarations that its package or `@types` gives. */
export function findTypes(ts: Compiler, { file, specifier, folder }: LocatedModule): string {
  if (specifier === undefined) return declarationsBeside(ts, file) ?? file
  const { ModuleKind, ModuleResolutionKind, ScriptTarget } = ts
  const options = {
    module: ModuleKind.NodeNext,
    moduleResolution: ModuleResolutionKind.NodeNext,
    target: ScriptTarget.ES2022,
    allowJs: true,
  }
  const { resolvedModule } = ts.resolveModuleName(
    specifier,
    join(folder, 'noop.mts'),
    options,
    ts.sys,
    undefined,
    undefined,
    ModuleKind.ESNext,
  )
  return resolvedModule?.resolvedFileName ?? declarationsBeside(ts, file) ?? file
}

// What a build has written beside the code, or what it was written from.
function declarationsBeside(ts: Compiler, file: string): string | undefined {
  const [, stem, kind] = /^(.*)\.([cm]?)js$/.exec(file) ?? []
  return stem === undefined
    ? undefined
    : [`${stem}.d.${kind}ts`, `${stem}.${kind}ts`].find((candidate) => ts.sys.fileExists(candidate))
}
