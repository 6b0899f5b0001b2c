import { isBuiltin } from 'node:module'
import type ts from 'typescript'
import type { Compiler } from './types/work.ts'

// The compiler knows them, and nobody declares them.
const UNDECLARED = new Set(['undefined', 'globalThis', 'arguments', 'const'])

/** Whether the types of a program may depend on names that it does not know: those of node and of browsers, where it was opened without them. Says yes in doubt. */
export function lacksNames(ts: Compiler, program: ts.Program): boolean {
  const checker = program.getTypeChecker()
  const lacks = (node: ts.Node): boolean => {
    if (ts.isIdentifier(node))
      return isReference(ts, node) && isUnknown(ts, checker.getSymbolAtLocation(node), node.text)
    if (ts.isStringLiteral(node)) return namesBuiltin(ts, node)
    return parts(ts, node).some(lacks)
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

// What happens in a function that says what it returns has no part in its type, and neither has the value of what has a type.
function parts(ts: Compiler, node: ts.Node): readonly ts.Node[] {
  const found: ts.Node[] = []
  const left =
    ts.isFunctionLike(node) && node.type
      ? (node as { readonly body?: ts.Node }).body
      : ts.isVariableDeclaration(node) && node.type
        ? node.initializer
        : undefined
  ts.forEachChild(node, (part) => {
    if (part !== left) found.push(part)
  })
  return found
}

// The name of a member is looked up in its object, which is asked for itself.
function isReference(ts: Compiler, node: ts.Identifier): boolean {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node
  if (ts.isQualifiedName(parent)) return parent.left === node && !ts.isImportTypeNode(parent.parent)
  if (ts.isBindingElement(parent) || ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent))
    return false
  return !ts.isImportTypeNode(parent) && !ts.isMetaProperty(parent)
}

function isUnknown(ts: Compiler, symbol: ts.Symbol | undefined, name: string): boolean {
  if (UNDECLARED.has(name)) return false
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

// `export * from 'node:fs'`, `import('node:fs').Stats`; an import is asked for where its names are used.
function namesBuiltin(ts: Compiler, node: ts.StringLiteral): boolean {
  const { parent } = node
  return (
    isBuiltin(node.text) &&
    (ts.isExportDeclaration(parent) ||
      ts.isExternalModuleReference(parent) ||
      (ts.isLiteralTypeNode(parent) && ts.isImportTypeNode(parent.parent)))
  )
}
