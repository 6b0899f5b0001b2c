/**
 * Opens a module with the TypeScript compiler of its project.
 */

import { existsSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import type ts from 'typescript'
import { ToolError } from '../../protocol/tool-error.ts'
import { findPackage } from '../find-package.ts'
import type { LocatedModule } from '../locate.ts'
import { findOwningPackage } from '../locate.ts'
import type { ModuleReader, TypeScriptCompiler } from './reader.ts'

/** A program, and every file that its types came from. */
type OpenedProgram = {
  readonly reader: ModuleReader
  readonly files: readonly string[]
  /** Imports of the project that lead nowhere. */ readonly missing: readonly UnresolvedImport[]
}

/** An import such as `./size.ts`, and where it is written. */
export type UnresolvedImport = {
  readonly specifier: string
  readonly file: string
  readonly line: number
}

/**
 * Opens a module for reading. Throws INVALID_INPUT with file and line where it is no TypeScript or
 * JavaScript.
 */
export function openProgram(ts: TypeScriptCompiler, file: string, strict: boolean): OpenedProgram {
  const project = readProjectOptions(ts, file)
  const { program, missing } = createTypeProgram(ts, file, {
    ...project.options,
    ...getReadingOptions(ts, dirname(file)),
  })
  const entry = program.getSourceFile(file)
  if (!entry) throw new ToolError('INVALID_PATH', `${file} cannot be read`)
  rejectSyntaxErrors(ts, program)
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
      packageOf: (name) => findOwningPackage(name)?.name,
    },
    files: [...new Set([...files, ...project.files])],
    missing,
  }
}

// To read what node and browsers declare takes longer than all the rest, and few signatures speak
// of it: it is read only where a name is missing.
function createTypeProgram(
  ts: TypeScriptCompiler,
  file: string,
  options: ts.CompilerOptions,
): { readonly program: ts.Program; readonly missing: readonly UnresolvedImport[] } {
  const read = new Map<string, ts.SourceFile | undefined>()
  const create = (chosen: ts.CompilerOptions): ReturnType<typeof createTypeProgram> => {
    const { host, missing } = createTrackingHost(ts, chosen)
    const { getSourceFile } = host
    host.getSourceFile = (name, ...how) => {
      if (!read.has(name)) read.set(name, getSourceFile(name, ...how))
      return read.get(name)
    }
    return { program: ts.createProgram({ rootNames: [file], options: chosen, host }), missing }
  }
  const language = create({ ...options, lib: listLanguageLibs(ts, options), types: [] })
  return needsAmbientTypes(ts, language.program) ? create(options) : language
}

function listLanguageLibs(ts: TypeScriptCompiler, options: ts.CompilerOptions): string[] {
  const lib = options.lib ?? [
    ts
      .getDefaultLibFileName(options)
      .replace('.full.', '.')
      .replace(/^lib\.(es6\.)?d\.ts$/, 'lib.es2015.d.ts'),
  ]
  return lib.filter((name) => !/^lib\.(dom|webworker|scripthost)\b/.test(name))
}

// Resolves imports as the compiler does, and keeps what it does not find: that may be there
// tomorrow.
function createTrackingHost(
  ts: TypeScriptCompiler,
  options: ts.CompilerOptions,
): { readonly host: ts.CompilerHost; readonly missing: readonly UnresolvedImport[] } {
  const missing: UnresolvedImport[] = []
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
function getReadingOptions(ts: TypeScriptCompiler, folder: string): ts.CompilerOptions {
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
function rejectSyntaxErrors(ts: TypeScriptCompiler, program: ts.Program): void {
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

const COMPILER_PACKAGE = 'typescript'
const COMPILER_RANGE = '>=5.5 <7'

/** The compiler and where it was found. */
type InstalledCompiler = {
  readonly ts: TypeScriptCompiler
  readonly version: string
  readonly manifest: string
}

/**
 * Loads the compiler of the module's own project, else ours. Throws CONFIG, with the command that
 * installs it.
 */
export function loadCompiler(folders: readonly string[]): InstalledCompiler {
  const found = findPackage(COMPILER_PACKAGE, folders)
  const command = `npm install --save-dev '${COMPILER_PACKAGE}@${COMPILER_RANGE}'`
  if (!found)
    throw new ToolError(
      'CONFIG',
      `reading the types of functions needs the package ${COMPILER_PACKAGE}, and it is not installed in ${folders[0]}`,
      { suggestion: command },
    )
  if (!isSupportedVersion(found.version))
    throw new ToolError(
      'CONFIG',
      `reading the types of functions needs ${COMPILER_PACKAGE} ${COMPILER_RANGE}, and ${found.version} is installed (${found.manifest})`,
      { suggestion: command },
    )
  const loaded = found.load() as TypeScriptCompiler & { readonly default?: TypeScriptCompiler }
  return { ts: loaded.default ?? loaded, version: found.version, manifest: found.manifest }
}

// Version 7 has no programming interface yet.
function isSupportedVersion(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major === 6 || (major === 5 && minor >= 5)
}

/**
 * What a project says about its types, and by which files; those that are not there would say
 * something else.
 */
type TsProjectOptions = { readonly options: ts.CompilerOptions; readonly files: readonly string[] }

// What stands in the way of reading: syntax, a value of the wrong type, and what is extended and
// not there, or extends itself. Options that this compiler does not know are for another one.
const isBlockingDiagnostic = ({ code }: ts.Diagnostic): boolean =>
  code < 2000 || [5024, 5083, 6053, 18000].includes(code)

/**
 * The options that hold for a file: of the nearest tsconfig.json with all that it extends, or of
 * the project that it names for this file. Throws CONFIG, with file and line, for one that cannot
 * be read.
 */
function readProjectOptions(ts: TypeScriptCompiler, file: string): TsProjectOptions {
  const config = ts.findConfigFile(dirname(file), ts.sys.fileExists)
  const absent = listFoldersUpTo(dirname(file), config && dirname(config)).map((folder) =>
    join(folder, 'tsconfig.json'),
  )
  if (config === undefined)
    return {
      options: {
        target: ts.ScriptTarget.ES2022,
        module: ts.ModuleKind.NodeNext,
        moduleResolution: ts.ModuleResolutionKind.NodeNext,
        lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'],
      },
      files: absent,
    }
  const own = parseTsProject(ts, config)
  const files = [...absent, ...own.files]
  for (const reference of own.isEmpty ? own.references : []) {
    const project = parseTsProject(ts, reference)
    files.push(...project.files)
    if (project.covers(file)) return { options: project.options, files }
  }
  return { options: own.options, files }
}

type ParsedTsProject = TsProjectOptions & {
  /** It has no files of its own. */ readonly isEmpty: boolean
  readonly references: readonly string[]
  covers(file: string): boolean
}

function parseTsProject(ts: TypeScriptCompiler, config: string): ParsedTsProject {
  const source = ts.readJsonConfigFile(config, ts.sys.readFile)
  const folder = dirname(config)
  // Only what the module reaches is read: the folders of the project are left alone until somebody
  // asks.
  const parsed = ts.parseJsonSourceFileConfigFileContent(
    source,
    { ...ts.sys, readDirectory: () => [] },
    folder,
    undefined,
    config,
  )
  const broken = [
    ...(source as unknown as { readonly parseDiagnostics: readonly ts.Diagnostic[] })
      .parseDiagnostics,
    ...parsed.errors,
  ].find(isBlockingDiagnostic)
  if (broken) throwDiagnostic(ts, source, broken)
  const raw = parsed.raw as
    { readonly files?: readonly unknown[]; readonly include?: readonly unknown[] } | undefined
  return {
    options: parsed.options,
    files: [
      config,
      ...((source as { readonly extendedSourceFiles?: readonly string[] }).extendedSourceFiles ??
        []),
    ],
    isEmpty: raw?.files?.length === 0 && raw.include === undefined,
    references: (parsed.projectReferences ?? [])
      .map(({ path }) => ts.resolveProjectReferencePath({ path }))
      .filter((path) => existsSync(path)),
    covers: (file) =>
      ts
        .parseJsonSourceFileConfigFileContent(
          ts.readJsonConfigFile(config, ts.sys.readFile),
          ts.sys,
          folder,
          undefined,
          config,
        )
        .fileNames.some((name) => resolve(name) === resolve(file)),
  }
}

function throwDiagnostic(
  ts: TypeScriptCompiler,
  source: ts.SourceFile,
  { file = source, start, messageText }: ts.Diagnostic,
): never {
  // What is extended and cannot be read is not told with a place.
  const at = start ?? Math.max(0, source.text.indexOf('"extends"'))
  const place = `${resolve(file.fileName)}:${file.getLineAndCharacterOfPosition(at).line + 1}`
  throw new ToolError('CONFIG', `${place}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`, {
    suggestion: `Correct ${place}`,
    details: { source: place },
  })
}

function listFoldersUpTo(folder: string, end: string | undefined): readonly string[] {
  if (folder === end) return []
  return dirname(folder) === folder ? [folder] : [folder, ...listFoldersUpTo(dirname(folder), end)]
}

/**
 * The file that has the types of a module: the module itself, or the declarations that its package
 * or `@types` gives.
 */
export function findTypesFile(
  ts: TypeScriptCompiler,
  { file, specifier, folder }: LocatedModule,
): string {
  if (specifier === undefined) return findAdjacentTypes(ts, file) ?? file
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
  return resolvedModule?.resolvedFileName ?? findAdjacentTypes(ts, file) ?? file
}

// What a build has written beside the code, or what it was written from.
function findAdjacentTypes(ts: TypeScriptCompiler, file: string): string | undefined {
  const [, stem, kind] = /^(.*)\.([cm]?)js$/.exec(file) ?? []
  return stem === undefined
    ? undefined
    : [`${stem}.d.${kind}ts`, `${stem}.${kind}ts`].find((candidate) => ts.sys.fileExists(candidate))
}

// The compiler knows them, and nobody declares them.
const UNDECLARED_NAMES = new Set(['undefined', 'globalThis', 'arguments', 'const'])

/**
 * Whether the types of a program may depend on names that it does not know: those of node and of
 * browsers, where it was opened without them. Says yes in doubt.
 */
function needsAmbientTypes(ts: TypeScriptCompiler, program: ts.Program): boolean {
  const checker = program.getTypeChecker()
  const lacks = (node: ts.Node): boolean => {
    if (ts.isIdentifier(node))
      return (
        isReference(ts, node) && isUnknownName(ts, checker.getSymbolAtLocation(node), node.text)
      )
    if (ts.isStringLiteral(node)) return refersToBuiltin(ts, node)
    return listTypeRelevantParts(ts, node).some(lacks)
  }
  return program
    .getSourceFiles()
    .some(
      (file) =>
        !program.isSourceFileDefaultLibrary(file) &&
        !file.fileName.endsWith('.json') &&
        ((!file.isDeclarationFile && /\.[cm]?jsx?$/.test(file.fileName)) || lacks(file)),
    )
}

// What happens in a function that says what it returns has no part in its type, and neither has the
// value of what has a type.
function listTypeRelevantParts(ts: TypeScriptCompiler, node: ts.Node): readonly ts.Node[] {
  const found: ts.Node[] = []
  let skipped: ts.Node | undefined
  if (ts.isFunctionLike(node) && node.type) skipped = (node as { readonly body?: ts.Node }).body
  if (ts.isVariableDeclaration(node) && node.type) skipped = node.initializer
  ts.forEachChild(node, (part) => {
    if (part !== skipped) found.push(part)
  })
  return found
}

// The name of a member is looked up in its object, which is asked for itself.
function isReference(ts: TypeScriptCompiler, node: ts.Identifier): boolean {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node
  if (ts.isQualifiedName(parent)) return parent.left === node && !ts.isImportTypeNode(parent.parent)
  if (ts.isBindingElement(parent) || ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent))
    return false
  return !ts.isImportTypeNode(parent) && !ts.isMetaProperty(parent)
}

function isUnknownName(
  ts: TypeScriptCompiler,
  symbol: ts.Symbol | undefined,
  name: string,
): boolean {
  if (UNDECLARED_NAMES.has(name)) return false
  const [declaration] = symbol?.declarations ?? []
  if (!declaration) return true
  // What comes from a part of node is known only by its name.
  for (
    let node: ts.Node | undefined = symbol!.flags & ts.SymbolFlags.Alias ? declaration : undefined;
    node;
    node = node.parent
  ) {
    if (ts.isImportDeclaration(node))
      return ts.isStringLiteral(node.moduleSpecifier) && isBuiltin(node.moduleSpecifier.text)
  }
  return false
}

// `export * from 'node:fs'`, `import('node:fs').Stats`; an import is asked for where its names are
// used.
function refersToBuiltin(ts: TypeScriptCompiler, node: ts.StringLiteral): boolean {
  const { parent } = node
  return (
    isBuiltin(node.text) &&
    (ts.isExportDeclaration(parent) ||
      ts.isExternalModuleReference(parent) ||
      (ts.isLiteralTypeNode(parent) && ts.isImportTypeNode(parent.parent)))
  )
}
