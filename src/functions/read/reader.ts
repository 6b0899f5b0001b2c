import type ts from 'typescript'
import type { FunctionProblem } from '../manifest.ts'
import type { Compiler } from './types/work.ts'

/** The program of a module, opened for reading. */
export type Reader = {
  readonly ts: Compiler
  readonly program: ts.Program
  readonly checker: ts.TypeChecker
  /** The file whose exports are read. */
  readonly entry: ts.SourceFile
  readonly strict: boolean
  /** The name of the package that a file belongs to; undefined for files of no package. */
  packageOf(file: string): string | undefined
}

/** What happened to one export. */
export type Told = { readonly problems: FunctionProblem[] }

/** Where a node stands, as people count lines. */
export function placeOf(node: ts.Node): { readonly file: string; readonly line: number } {
  const file = node.getSourceFile()
  return {
    file: file.fileName,
    line: file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1,
  }
}

/** True for a type that this package declares under one of these names. */
export function isOurs({ packageOf }: Reader, type: ts.Type, names: readonly string[]): boolean {
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
export function isHidden({ ts }: Pick<Reader, 'ts'>, symbol: ts.Symbol): boolean {
  const [declaration] = symbol.declarations ?? []
  return (
    symbol.name.startsWith('#') ||
    (declaration !== undefined &&
      (ts.getCombinedModifierFlags(declaration) &
        (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)) !==
        0)
  )
}
