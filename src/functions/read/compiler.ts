import { ToolError } from '../../contract/tool-error.ts'
import { findPackage } from '../load/find-package.ts'
import type { Compiler } from './types/work.ts'

const NAME = 'typescript'
const RANGE = '>=5.5 <7'

/** The compiler and where it was found. */
export type FoundCompiler = {
  readonly ts: Compiler
  readonly version: string
  readonly manifest: string
}

/** Loads the compiler of the module's own project, else ours. Throws CONFIG, with the command that installs it. */
export function loadCompiler(folders: readonly string[]): FoundCompiler {
  const found = findPackage(NAME, folders)
  const command = `npm install --save-dev '${NAME}@${RANGE}'`
  if (!found)
    throw new ToolError(
      'CONFIG',
      `reading the types of functions needs the package ${NAME}, and it is not installed in ${folders[0]}`,
      { suggestion: command },
    )
  if (!isFitting(found.version))
    throw new ToolError(
      'CONFIG',
      `reading the types of functions needs ${NAME} ${RANGE}, and ${found.version} is installed (${found.manifest})`,
      { suggestion: command },
    )
  const loaded = found.load() as Compiler & { readonly default?: Compiler }
  return { ts: loaded.default ?? loaded, version: found.version, manifest: found.manifest }
}

// Version 7 has no programming interface yet.
function isFitting(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major === 6 || (major === 5 && minor >= 5)
}
