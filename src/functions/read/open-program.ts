import { isBuiltin } from 'node:module'
import { dirname } from 'node:path'
import type ts from 'typescript'
import { ToolError } from '../../contract/tool-error.ts'
import { findPackageOf } from '../locate/package-of.ts'
import { projectOptions } from './compiler-options.ts'
import { lacksNames } from './lacks-names.ts'
import type { Reader } from './reader.ts'
import type { Compiler } from './types/work.ts'

/** A program, and every file that its types came from. */
export type OpenedProgram = {
  readonly reader: Reader
  readonly files: readonly string[]
  /** Imports of the project that lead nowhere. */ readonly missing: readonly MissingImport[]
}

/** An import such as `./size.ts`, and where it is written. */
export type MissingImport = {
  readonly specifier: string
  readonly file: string
  readonly line: number
}

/** Opens a module for reading. Throws INVALID_INPUT with file and line where it is no TypeScript or JavaScript. */
export function openProgram(ts: Compiler, file: string, strict: boolean): OpenedProgram {
  const project = projectOptions(ts, file)
  const { program, missing } = createProgram(ts, file, {
    ...project.options,
    ...forReading(ts, dirname(file)),
  })
  const entry = program.getSourceFile(file)
  if (!entry) throw new ToolError('INVALID_PATH', `${file} cannot be read`)
  refuseSyntaxErrors(ts, program)
  const files = program
    .getSourceFiles()
    .filter((source) => !program.isSourceFileDefaultLibrary(source))
    .map(({ fileName }) => fileName)
  return {
    reader: {
      ts,
      program,
      checker: program.getTypeChecker(),
      entry,
      strict,
      packageOf: (name) => findPackageOf(name)?.name,
    },
    files: [...new Set([...files, ...project.files])],
    missing,
  }
}

// To read what node and browsers declare takes longer than all the rest, and few signatures speak of it: it is read only where a name is missing.
function createProgram(
  ts: Compiler,
  file: string,
  options: ts.CompilerOptions,
): { readonly program: ts.Program; readonly missing: readonly MissingImport[] } {
  const read = new Map<string, ts.SourceFile | undefined>()
  const create = (chosen: ts.CompilerOptions): ReturnType<typeof createProgram> => {
    const { host, missing } = watchImports(ts, chosen)
    const { getSourceFile } = host
    host.getSourceFile = (name, ...how) => {
      if (!read.has(name)) read.set(name, getSourceFile(name, ...how))
      return read.get(name)
    }
    return { program: ts.createProgram({ rootNames: [file], options: chosen, host }), missing }
  }
  const language = create({ ...options, lib: languageOf(ts, options), types: [] })
  return lacksNames(ts, language.program) ? create(options) : language
}

function languageOf(ts: Compiler, options: ts.CompilerOptions): string[] {
  const lib = options.lib ?? [
    ts
      .getDefaultLibFileName(options)
      .replace('.full.', '.')
      .replace(/^lib\.(es6\.)?d\.ts$/, 'lib.es2015.d.ts'),
  ]
  return lib.filter((name) => !/^lib\.(dom|webworker|scripthost)\b/.test(name))
}

// Resolves imports as the compiler does, and keeps what it does not find: that may be there tomorrow.
function watchImports(
  ts: Compiler,
  options: ts.CompilerOptions,
): { readonly host: ts.CompilerHost; readonly missing: readonly MissingImport[] } {
  const missing: MissingImport[] = []
  const host = ts.createCompilerHost(options)
  const cache = ts.createModuleResolutionCache(
    host.getCurrentDirectory(),
    (name) => host.getCanonicalFileName(name),
    options,
  )
  host.resolveModuleNameLiterals = (literals, containing, redirected, given, source) =>
    literals.map((literal) => {
      const found = ts.resolveModuleName(
        literal.text,
        containing,
        given,
        host,
        cache,
        redirected,
        ts.getModeForUsageLocation(source, literal, given),
      )
      if (
        !found.resolvedModule &&
        !containing.includes('/node_modules/') &&
        !isBuiltin(literal.text)
      )
        missing.push({
          specifier: literal.text,
          file: source.fileName,
          line: source.getLineAndCharacterOfPosition(literal.pos).line + 1,
        })
      return found
    })
  return { host, missing }
}

// What is asked of the types does not depend on how the project is checked or built.
function forReading(ts: Compiler, folder: string): ts.CompilerOptions {
  const node = ts.resolveTypeReferenceDirective(
    'node',
    `${folder}/noop.ts`,
    {},
    ts.sys,
  ).resolvedTypeReferenceDirective
  return {
    noEmit: true,
    strictNullChecks: true,
    skipLibCheck: true,
    allowJs: true,
    checkJs: false,
    allowImportingTsExtensions: true,
    composite: false,
    incremental: false,
    declaration: false,
    noLib: false,
    maxNodeModuleJsDepth: 1,
    types: node ? ['node'] : [],
  }
}

// Of the module and of what it imports; packages of others are as they are.
function refuseSyntaxErrors(ts: Compiler, program: ts.Program): void {
  const own = program
    .getSourceFiles()
    .filter(
      (file) =>
        !program.isSourceFileDefaultLibrary(file) && !file.fileName.includes('/node_modules/'),
    )
  const [first] = own.flatMap((file) => program.getSyntacticDiagnostics(file))
  if (!first) return
  const { file, start, messageText } = first
  const line = start === undefined ? 1 : file.getLineAndCharacterOfPosition(start).line + 1
  throw new ToolError(
    'INVALID_INPUT',
    `${file.fileName}:${line}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
    { suggestion: 'Correct the syntax of the module', details: { source: file.fileName, line } },
  )
}
