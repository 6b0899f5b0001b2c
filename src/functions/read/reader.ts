/**
 * What all readers share: the opened program, the context in which the types of one function are
 * read, and the error of a type that JSON cannot represent.
 */

import type ts from 'typescript'
import type { JsonSchema } from '../../util/values.ts'
import type { Conversion } from '../manifest.ts'

/** The compiler, which is loaded only where types have to be read. */
export type TypeScriptCompiler = typeof ts

/**
 * What a type says about JSON: its schema, and what has to be done with a value before the function
 * gets it.
 */
export type TypeReading = {
  readonly schema: JsonSchema
  readonly convert?: Conversion
  /** `undefined` is among its values. */
  readonly optional?: true
}

/** The reading of the types of one function, in one direction. */
export type TypeReadContext = {
  readonly ts: TypeScriptCompiler
  readonly program: ts.Program
  readonly checker: ts.TypeChecker
  /** Where names are looked up. */
  readonly at: ts.Node
  readonly direction: 'input' | 'output'
  /** `any` is refused where it is an input. */
  readonly strict: boolean
  /** Recursive types by name. */
  readonly definitions: Map<string, JsonSchema>
  readonly conversions: Map<string, Conversion>
  /** Reads a type that is part of another; throws Unreadable for what no JSON can stand for. */
  read(type: ts.Type): TypeReading
  /** The schema of a property with what its comment says about it. */
  describe(symbol: ts.Symbol, schema: JsonSchema): JsonSchema
  /** Tells of something that was left out. */
  note(reason: string, message: string): void
}

/** Thrown for a type that no JSON can stand for. */
export class UnreadableTypeError extends Error {
  readonly reason: string
  readonly fix: string

  constructor(reason: string, message: string, fix: string) {
    super(message)
    this.reason = reason
    this.fix = fix
  }
}

/** The program of a module, opened for reading. */
export type ModuleReader = {
  readonly ts: TypeScriptCompiler
  readonly program: ts.Program
  readonly checker: ts.TypeChecker
  /** The file whose exports are read. */
  readonly entry: ts.SourceFile
  readonly strict: boolean
  /** The name of the package that a file belongs to; undefined for files of no package. */
  packageOf(file: string): string | undefined
}

/** The symbol that another one stands for; the same where it stands for itself. */
export function resolveAlias(
  { ts, checker }: Pick<ModuleReader, 'ts' | 'checker'>,
  symbol: ts.Symbol,
): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
}

/** Where a node stands, as people count lines. */
export function getLocation(node: ts.Node): { readonly file: string; readonly line: number } {
  const file = node.getSourceFile()
  return {
    file: file.fileName,
    line: file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1,
  }
}

/** True for a type that this package declares under one of these names. */
export function isToolableType(
  { packageOf }: ModuleReader,
  type: ts.Type,
  names: readonly string[],
): boolean {
  return [type.aliasSymbol, type.getSymbol()].some((symbol) => {
    const file = symbol?.declarations?.[0]?.getSourceFile().fileName
    return (
      symbol !== undefined &&
      file !== undefined &&
      names.includes(symbol.name) &&
      packageOf(file) === 'toolable'
    )
  })
}

/** True for a member that its class keeps to itself. */
export function isPrivateMember({ ts }: Pick<ModuleReader, 'ts'>, symbol: ts.Symbol): boolean {
  const [declaration] = symbol.declarations ?? []
  return (
    symbol.name.startsWith('#') ||
    (declaration !== undefined &&
      (ts.getCombinedModifierFlags(declaration) &
        (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)) !==
        0)
  )
}
