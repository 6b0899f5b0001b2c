import type ts from 'typescript'
import type { FunctionProblem } from '../manifest.ts'
import type { ExportedFunction } from './read-function.ts'
import { isHidden, isOurs, placeOf } from './reader.ts'
import type { Reader } from './reader.ts'

/** The functions that a module exports, and what its other exports are. */
export type ListedExports = {
  readonly functions: readonly ExportedFunction[]
  readonly problems: readonly FunctionProblem[]
  /** It exports tools or toolsets that are made with this package, or may do so. */ readonly hasTools: boolean
}

/** Lists the exports of a module in the order in which they are written. `stem` names a default export that has no name. */
export function listExports(reader: Reader, stem: string): ListedExports {
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
    const symbol = given.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(given) : given
    if (!(symbol.flags & ts.SymbolFlags.Value) || seen.has(symbol)) return
    seen.add(symbol)
    const type = checker.getTypeOfSymbolAtLocation(symbol, symbol.declarations?.[0] ?? entry)
    const tell = (
      severity: FunctionProblem['severity'],
      reason: string,
      message: string,
      fix: string,
    ): void =>
      void found.problems.push({
        export: path,
        ...placeOf(given.declarations?.[0] ?? entry),
        reason,
        message,
        fix,
        severity,
      })
    // What the types do not tell may be one too.
    if (
      isOurs(reader, type, ['Tool', 'Toolset', 'Resource', 'Prompt']) ||
      type.flags & ts.TypeFlags.Any
    )
      found.hasTools = true
    else if (isForeign(reader, symbol))
      tell(
        'note',
        'foreign',
        `'${name}' is a part of another package`,
        'Turn that package into tools instead, or write a function that calls it',
      )
    else if (symbol.flags & ts.SymbolFlags.Class)
      tell(
        'error',
        'class',
        `'${path === 'default' ? ownName(symbol, type, stem) : name}' is a class`,
        'Export a function that makes the object and does the work',
      )
    else if (type.getCallSignatures().length > 0)
      found.functions.push({
        path,
        name: path === 'default' ? ownName(symbol, type, stem) : name,
        symbol,
        signatures: type.getCallSignatures(),
      })
    else if (path === 'default' && !isInside) {
      for (const member of checker
        .getPropertiesOfType(type)
        .filter((each) => isFunction(reader, each) && !isHidden(reader, each)))
        visit(`default.${member.name}`, member.name, member, true)
    } else if (!isInside && hasFunctions(reader, type))
      tell(
        'note',
        'not-a-function',
        `'${name}' is no function but an object with functions`,
        'Export the functions themselves, or make it the default export',
      )
    else if (!isInside)
      tell('note', 'not-a-function', `'${name}' is no function`, 'Nothing has to be done')
  }
  // The default export may be one of the others under a second name.
  for (const symbol of inOrder(
    named.filter(({ name }) => name !== 'default'),
    entry,
  ))
    visit(whole ? `default.${symbol.name}` : symbol.name, symbol.name, symbol)
  for (const symbol of named.filter(({ name }) => name === 'default'))
    visit('default', stem, symbol)
  if (whole) visit('default', stem, whole)
  return found
}

// The compiler knows functions before constants; people read from top to bottom. What comes from other files follows in their order.
function inOrder(symbols: readonly ts.Symbol[], entry: ts.SourceFile): readonly ts.Symbol[] {
  const placeOf = ({ declarations: [first] = [] }: ts.Symbol): number =>
    first?.getSourceFile() === entry ? first.pos : Infinity
  return [...symbols].sort((left, right) => Math.sign(placeOf(left) - placeOf(right)) || 0)
}

function isFunction({ checker, entry }: Reader, symbol: ts.Symbol): boolean {
  return checker.getTypeOfSymbolAtLocation(symbol, entry).getCallSignatures().length > 0
}

// An object that is written out, or a namespace; a text has methods too.
function hasFunctions(reader: Reader, type: ts.Type): boolean {
  const { SymbolFlags } = reader.ts
  return (
    ((type.getSymbol()?.flags ?? 0) & (SymbolFlags.ObjectLiteral | SymbolFlags.ValueModule)) !==
      0 && reader.checker.getPropertiesOfType(type).some((member) => isFunction(reader, member))
  )
}

function ownName(symbol: ts.Symbol, type: ts.Type, stem: string): string {
  if (!['default', 'export='].includes(symbol.name) && !symbol.name.startsWith('__'))
    return symbol.name
  return (
    declaredName(symbol.declarations?.[0]) ??
    declaredName(type.getCallSignatures()[0]?.declaration) ??
    stem
  )
}

function declaredName(declaration: ts.Node | undefined): string | undefined {
  const name = (declaration as { readonly name?: ts.Node } | undefined)?.name
  return name && 'text' in name && typeof name.text === 'string' ? name.text : undefined
}

// What a package hands on from another one is not its own; what it hands on from its own files is.
function isForeign({ packageOf, entry }: Reader, symbol: ts.Symbol): boolean {
  const file = symbol.declarations?.[0]?.getSourceFile().fileName
  if (file === undefined || !file.includes('/node_modules/')) return false
  return packageOf(file) !== packageOf(entry.fileName)
}
