/**
 * Reads the exported functions of a module: types, comments and examples become a manifest, and
 * what cannot become a tool becomes a problem.
 *
 * `program.ts` opens the module with the TypeScript compiler, `parameters.ts` reads signatures,
 * `comments.ts` reads documentation comments, and `types.ts` turns types into JSON Schema.
 */

import { basename } from 'node:path'
import type ts from 'typescript'
import { defineTool } from '../../define/tool.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { JsonSchema } from '../../util/values.ts'
import { compact } from '../../util/values.ts'
import { toToolOptions } from '../function-tools.ts'
import type { LocatedModule } from '../locate.ts'
import { findOwningPackage } from '../locate.ts'
import type { FunctionManifest, FunctionProblem, ModuleManifest } from '../manifest.ts'
import { toToolName, toWords } from '../manifest.ts'
import type { FunctionComment } from './comments.ts'
import { describeValue, getComment, readFunctionComment, readPropertyTags } from './comments.ts'
import { readExamples } from './literals.ts'
import { readParameters } from './parameters.ts'
import type { UnresolvedImport } from './program.ts'
import { findTypesFile, loadCompiler, openProgram } from './program.ts'
import type { ModuleReader, TypeReadContext } from './reader.ts'
import {
  getLocation,
  isPrivateMember,
  isToolableType,
  resolveAlias,
  UnreadableTypeError,
} from './reader.ts'
import { keepEffectiveConversions } from './type-unions.ts'
import { createTypeReadContext, readReturns, withDefinitions } from './types.ts'

/**
 * What was read, and what it was read from: when one of the files is another one, so may be the
 * manifest.
 */
export type ReadModuleResult = {
  readonly manifest: ModuleManifest
  readonly files: readonly string[]
  /** False where imports lead nowhere: what was read may be another thing tomorrow. */ readonly isWhole: boolean
  /** The module exports tools and toolsets too. */ readonly hasTools: boolean
}

/** Reads the functions of a module by its types. Throws CONFIG where there is no compiler. */
export async function readModule(
  located: LocatedModule,
  { strict, cwd }: { readonly strict: boolean; readonly cwd: string },
): Promise<ReadModuleResult> {
  const compiler = loadCompiler([located.folder, cwd])
  const types = findTypesFile(compiler.ts, located)
  const { reader, files, missing } = openProgram(compiler.ts, types, strict)
  const listed = listExports(reader, basename(located.file).replace(/\.\w+$/, ''))
  const functions = new Map<string, FunctionManifest>()
  const problems: FunctionProblem[] = [...missing.map(describeUnresolvedImport), ...listed.problems]
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
    manifest: compact({ name, version, description, functions: [...functions.values()], problems }),
    files: [
      ...new Set([located.file, ...files, compiler.manifest, ...listPackageFiles(located.file)]),
    ],
    isWhole: missing.length === 0,
    hasTools: listed.hasTools,
  }
}

function describeUnresolvedImport({ specifier, file, line }: UnresolvedImport): FunctionProblem {
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
function listPackageFiles(file: string): readonly string[] {
  const own = findOwningPackage(file)
  return own ? [own.file] : []
}

type ProblemParts = [
  severity: FunctionProblem['severity'],
  reason: string,
  message: string,
  fix: string,
]

function createProblem(
  path: string,
  at: ts.Node,
  ...[severity, reason, message, fix]: ProblemParts
): FunctionProblem {
  return { export: path, ...getLocation(at), reason, message, fix, severity }
}

/** The functions that a module exports, and what its other exports are. */
type ModuleExportList = {
  readonly functions: readonly ExportedFunction[]
  readonly problems: readonly FunctionProblem[]
  /** It exports tools or toolsets that are made with this package, or may do so. */ readonly hasTools: boolean
}

/**
 * Lists the exports of a module in the order in which they are written. `stem` names a default
 * export that has no name.
 */
function listExports(reader: ModuleReader, stem: string): ModuleExportList {
  const { ts, checker, entry } = reader
  const module = checker.getSymbolAtLocation(entry)
  if (!module) return { functions: [], problems: [], hasTools: false }
  const whole = module.exports?.get('export=' as ts.__String)
  const named = checker.getExportsOfModule(module).filter((symbol) => symbol.name !== 'export=')
  const found = {
    functions: [] as ExportedFunction[],
    problems: [] as FunctionProblem[],
    hasTools: false,
  }
  const seen = new Set<ts.Symbol>()
  const visit = (path: string, name: string, given: ts.Symbol, isInside = false): void => {
    const symbol = resolveAlias(reader, given)
    if (!(symbol.flags & ts.SymbolFlags.Value) || seen.has(symbol)) return
    seen.add(symbol)
    const type = checker.getTypeOfSymbolAtLocation(symbol, symbol.declarations?.[0] ?? entry)
    const report = (...parts: ProblemParts): void =>
      void found.problems.push(createProblem(path, given.declarations?.[0] ?? entry, ...parts))
    // What the types do not tell may be one too.
    if (
      isToolableType(reader, type, ['Tool', 'Toolset', 'Resource', 'Prompt']) ||
      type.flags & ts.TypeFlags.Any
    )
      found.hasTools = true
    else if (isFromOtherPackage(reader, symbol))
      report(
        'note',
        'foreign',
        `'${name}' is a part of another package`,
        'Turn that package into tools instead, or write a function that calls it',
      )
    else if (symbol.flags & ts.SymbolFlags.Class)
      report(
        'error',
        'class',
        `'${path === 'default' ? getExportName(symbol, type, stem) : name}' is a class`,
        'Export a function that makes the object and does the work',
      )
    else if (type.getCallSignatures().length > 0)
      found.functions.push({
        path,
        name: path === 'default' ? getExportName(symbol, type, stem) : name,
        symbol,
        signatures: type.getCallSignatures(),
      })
    else if (path === 'default' && !isInside) {
      for (const member of checker
        .getPropertiesOfType(type)
        .filter((each) => isFunctionExport(reader, each) && !isPrivateMember(reader, each)))
        visit(`default.${member.name}`, member.name, member, true)
    } else if (!isInside && hasFunctions(reader, type))
      report(
        'note',
        'not-a-function',
        `'${name}' is no function but an object with functions`,
        'Export the functions themselves, or make it the default export',
      )
    else if (!isInside)
      report('note', 'not-a-function', `'${name}' is no function`, 'Nothing has to be done')
  }
  // The default export may be one of the others under a second name.
  for (const symbol of sortBySource(
    named.filter(({ name }) => name !== 'default'),
    entry,
  ))
    visit(whole ? `default.${symbol.name}` : symbol.name, symbol.name, symbol)
  for (const symbol of named.filter(({ name }) => name === 'default'))
    visit('default', stem, symbol)
  if (whole) visit('default', stem, whole)
  return found
}

// The compiler knows functions before constants; people read from top to bottom. What comes from
// other files follows in their order.
function sortBySource(symbols: readonly ts.Symbol[], entry: ts.SourceFile): readonly ts.Symbol[] {
  const placeOf = ({ declarations: [first] = [] }: ts.Symbol): number =>
    first?.getSourceFile() === entry ? first.pos : Infinity
  return [...symbols].sort((left, right) => Math.sign(placeOf(left) - placeOf(right)) || 0)
}

function isFunctionExport({ checker, entry }: ModuleReader, symbol: ts.Symbol): boolean {
  return checker.getTypeOfSymbolAtLocation(symbol, entry).getCallSignatures().length > 0
}

// An object that is written out, or a namespace; a text has methods too.
function hasFunctions(reader: ModuleReader, type: ts.Type): boolean {
  const { SymbolFlags } = reader.ts
  return (
    ((type.getSymbol()?.flags ?? 0) & (SymbolFlags.ObjectLiteral | SymbolFlags.ValueModule)) !==
      0 &&
    reader.checker.getPropertiesOfType(type).some((member) => isFunctionExport(reader, member))
  )
}

function getExportName(symbol: ts.Symbol, type: ts.Type, stem: string): string {
  if (!['default', 'export='].includes(symbol.name) && !symbol.name.startsWith('__'))
    return symbol.name
  return (
    getDeclaredName(symbol.declarations?.[0]) ??
    getDeclaredName(type.getCallSignatures()[0]?.declaration) ??
    stem
  )
}

function getDeclaredName(declaration: ts.Node | undefined): string | undefined {
  const name = (declaration as { readonly name?: ts.Node } | undefined)?.name
  return name && 'text' in name && typeof name.text === 'string' ? name.text : undefined
}

// What a package hands on from another one is not its own; what it hands on from its own files is.
function isFromOtherPackage({ packageOf, entry }: ModuleReader, symbol: ts.Symbol): boolean {
  const file = symbol.declarations?.[0]?.getSourceFile().fileName
  if (file === undefined || !file.includes('/node_modules/')) return false
  return packageOf(file) !== packageOf(entry.fileName)
}

/** A function that a module exports. */
type ExportedFunction = {
  /** How to reach it in the module. */
  readonly path: string
  /** What it is called: its own name where it is the default export. */
  readonly name: string
  readonly symbol: ts.Symbol
  readonly signatures: readonly ts.Signature[]
}

/** A tool, or why there is none, and what else is to be said. */
type ReadFunctionResult = {
  readonly manifest?: FunctionManifest
  readonly problems: readonly FunctionProblem[]
}

type SignatureAttempt = {
  readonly manifest: FunctionManifest
  readonly problems: readonly FunctionProblem[]
  readonly signature: ts.Signature
}

/**
 * Reads one function: types, comment, examples. Functions that are marked as internal give nothing.
 */
async function readFunction(
  reader: ModuleReader,
  { path, name, symbol, signatures }: ExportedFunction,
): Promise<ReadFunctionResult> {
  const at = symbol.declarations?.[0] ?? reader.entry
  const problem = (...parts: ProblemParts): FunctionProblem => createProblem(path, at, ...parts)
  const attempts: SignatureAttempt[] = []
  let refused: UnreadableTypeError | undefined
  for (const signature of signatures) {
    const comment = readFunctionComment(findFunctionComment(reader, signature, symbol))
    if (comment.isInternal) return { problems: [] }
    const problems: FunctionProblem[] = []
    const report = (...parts: ProblemParts): void => {
      if (!problems.some(({ message }) => message === parts[2])) problems.push(problem(...parts))
    }
    try {
      const manifest = await readSignature(reader, { path, name, signature, at, comment, report })
      const { input, output } = manifest
      defineTool({ ...toToolOptions(manifest), input, ...compact({ output }) })
      attempts.push({ manifest, problems, signature })
    } catch (error) {
      refused = toUnreadableType(error)
    }
  }
  const chosen = chooseAttempt(attempts)
  if (!chosen)
    return {
      problems: refused ? [problem('error', refused.reason, refused.message, refused.fix)] : [],
    }
  const forms =
    signatures.length === 1
      ? []
      : [
          problem(
            'note',
            'overloads',
            `it has ${signatures.length} forms; the tool has the form ${reader.checker.signatureToString(chosen.signature, at)}`,
            'Write a function of its own for another form',
          ),
        ]
  return { manifest: chosen.manifest, problems: [...chosen.problems, ...forms] }
}

// The form that asks for least and takes most; of several the last, where libraries put the general
// one.
function chooseAttempt(attempts: readonly SignatureAttempt[]): SignatureAttempt | undefined {
  const needs = ({ manifest: { input } }: SignatureAttempt): number =>
    Array.isArray(input['required']) ? input['required'].length : 0
  const takes = ({ manifest: { input } }: SignatureAttempt): number =>
    Object.keys(input['properties'] as object).length
  return attempts.reduce<SignatureAttempt | undefined>(
    (best, attempt) =>
      best && (needs(best) - needs(attempt) || takes(attempt) - takes(best)) < 0 ? best : attempt,
    undefined,
  )
}

function toUnreadableType(error: unknown): UnreadableTypeError {
  if (error instanceof UnreadableTypeError) return error
  if (ToolError.is(error))
    return new UnreadableTypeError('definition', error.message, 'Change the name or the comment')
  throw error
}

type SignatureSubject = {
  readonly path: string
  readonly name: string
  readonly signature: ts.Signature
  readonly at: ts.Node
  readonly comment: FunctionComment
  report(...parts: ProblemParts): void
}

async function readSignature(
  reader: ModuleReader,
  { path, name, signature, at, comment, report }: SignatureSubject,
): Promise<FunctionManifest> {
  const begin = (direction: TypeReadContext['direction']): TypeReadContext => {
    const note: TypeReadContext['note'] = (reason, message) =>
      direction === 'input'
        ? report('note', reason, message, 'Nothing has to be done where it is not needed')
        : undefined
    return createTypeReadContext({
      ts: reader.ts,
      program: reader.program,
      checker: reader.checker,
      at,
      direction,
      strict: reader.strict,
      note,
      describe: (property, schema) =>
        describeProperty({ ...reader, note }, property, schema, direction),
    })
  }
  const input = begin('input')
  const { schema, parameters, positional, flags } = readParameters(
    reader,
    input,
    signature,
    comment,
  )
  const conversions = Object.fromEntries(input.conversions)
  const base = {
    export: path,
    name: comment.name ?? toToolName(name),
    summary: comment.summary ?? toWords(name),
    ...compact({ description: comment.description }),
    input: withDefinitions(schema, input.definitions),
    ...readReturns(reader, begin('output'), signature, comment.returns),
    ...keepEffectiveConversions(parameters, conversions),
    positional,
    flags,
  }
  const { examples, problems } = await readExamples(reader, base, comment.examples)
  for (const problem of problems)
    report('warning', 'example', problem, 'Correct the example; it is not shown until then')
  for (const problem of comment.problems) report('warning', 'tag', problem, 'Correct the comment')
  return {
    ...base,
    examples,
    annotations: comment.annotations,
    errors: comment.errors,
    tags: comment.tags,
    ...compact({ timeout: comment.timeout, deprecated: comment.deprecated }),
    ...getLocation(at),
  }
}

// Limits and defaults bind a caller; of a result only what it means is said.
function describeProperty(
  reading: ModuleReader & Pick<TypeReadContext, 'note'>,
  symbol: ts.Symbol,
  schema: JsonSchema,
  direction: TypeReadContext['direction'],
): JsonSchema {
  const said = readPropertyTags(reading.ts, symbol)
  const { description } = said.schema
  return direction === 'input'
    ? describeValue(reading, symbol.name, schema, said)
    : { ...schema, ...compact({ description }) }
}

function findFunctionComment(
  { ts }: ModuleReader,
  { declaration }: ts.Signature,
  symbol: ts.Symbol,
): string {
  const own = declaration ? getComment(ts, declaration) : ''
  return own !== ''
    ? own
    : ((symbol.declarations ?? [])
        .map((each) => getComment(ts, each))
        .find((comment) => comment !== '') ?? '')
}
