import { dirname } from 'node:path'
import type ts from 'typescript'
import { ToolError } from '../../contract/tool-error.ts'
import { findPackageOf } from '../locate/package-of.ts'
import type { Reader } from './reader.ts'
import type { Compiler } from './types/work.ts'

/** A program, and every file that its types came from. */
export type OpenedProgram = { readonly reader: Reader; readonly files: readonly string[] }

/** Opens a module for reading. Throws INVALID_INPUT with file and line where it is no TypeScript or JavaScript. */
export function openProgram(ts: Compiler, file: string, strict: boolean): OpenedProgram {
  const folder = dirname(file)
  const config = ts.findConfigFile(folder, ts.sys.fileExists)
  const options = { ...readConfig(ts, config), ...forReading(ts, folder) }
  const program = ts.createProgram({ rootNames: [file], options })
  const entry = program.getSourceFile(file)
  if (!entry) throw new ToolError('INVALID_PATH', `${file} cannot be read`)
  refuseSyntaxErrors(ts, program, entry)
  const files = program.getSourceFiles().filter((source) => !program.isSourceFileDefaultLibrary(source)).map(({ fileName }) => fileName)
  return {
    reader: { ts, program, checker: program.getTypeChecker(), entry, strict, packageOf: (name) => findPackageOf(name)?.name },
    files: [...new Set([...files, ...(config ? [config] : [])])],
  }
}

function readConfig(ts: Compiler, config: string | undefined): ts.CompilerOptions {
  if (config === undefined) return { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'] }
  const { config: data } = ts.readConfigFile(config, ts.sys.readFile) as { readonly config?: unknown }
  // The files of the project are not asked for: only what this module reaches is read.
  return ts.parseJsonConfigFileContent({ ...(data as object | undefined), files: [], include: [] }, ts.sys, dirname(config)).options
}

// What is asked of the types does not depend on how the project is checked or built.
function forReading(ts: Compiler, folder: string): ts.CompilerOptions {
  const node = ts.resolveTypeReferenceDirective('node', `${folder}/noop.ts`, {}, ts.sys).resolvedTypeReferenceDirective
  return {
    noEmit: true, strictNullChecks: true, skipLibCheck: true, allowJs: true, checkJs: false, allowImportingTsExtensions: true, composite: false, incremental: false, declaration: false, noLib: false,
    maxNodeModuleJsDepth: 1,
    types: node ? ['node'] : [],
  }
}

function refuseSyntaxErrors(ts: Compiler, program: ts.Program, entry: ts.SourceFile): void {
  const [first] = program.getSyntacticDiagnostics(entry)
  if (!first) return
  const line = first.file && first.start !== undefined ? first.file.getLineAndCharacterOfPosition(first.start).line + 1 : 1
  throw new ToolError('INVALID_INPUT', `${entry.fileName}:${line}: ${ts.flattenDiagnosticMessageText(first.messageText, ' ')}`, { suggestion: 'Correct the syntax of the module', details: { source: entry.fileName, line } })
}
