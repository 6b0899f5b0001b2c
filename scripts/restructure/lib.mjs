import { readFileSync, readdirSync, existsSync } from 'node:fs'
import { dirname, relative, resolve, join } from 'node:path'
import { createRequire } from 'node:module'
export const ts = createRequire(resolve('package.json'))('typescript')
export const SK = ts.SyntaxKind

export function listSource(root = 'src') {
  return readdirSync(root, { recursive: true }).filter((f) => f.endsWith('.ts')).map((f) => f.replaceAll('\\', '/')).sort()
}
export const isTypeDecl = (n) => ts.isTypeAliasDeclaration(n) || ts.isInterfaceDeclaration(n)
const hasExport = (n) => n.modifiers?.some((m) => m.kind === SK.ExportKeyword) ?? false
function bindingNames(name, out) {
  if (ts.isIdentifier(name)) out.push(name.text)
  else for (const e of name.elements) if (ts.isBindingElement(e)) bindingNames(e.name, out)
}
/** What a file says on its top level. Paths are relative to src/. */
export function readFile(file, root = 'src') {
  const text = readFileSync(join(root, file), 'utf8')
  const sf = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const at = (s) => relative(root, resolve(root, dirname(file), s)).replaceAll('\\', '/')
  const info = { file, text, sf, imports: [], exportsFrom: [], dynamic: new Set(), typeRefs: new Set(), decls: new Map(), runtimeLines: 0, lines: text.split('\n').length - 1 }
  for (const n of sf.statements) {
    if (ts.isImportDeclaration(n)) {
      const spec = n.moduleSpecifier.text
      const clause = n.importClause
      const typeOnly = clause?.isTypeOnly ?? false
      const names = []
      let def, ns
      if (clause?.name) def = clause.name.text
      if (clause?.namedBindings) {
        if (ts.isNamespaceImport(clause.namedBindings)) ns = clause.namedBindings.name.text
        else for (const e of clause.namedBindings.elements) names.push({ imported: (e.propertyName ?? e.name).text, local: e.name.text, typeOnly: typeOnly || e.isTypeOnly })
      }
      info.imports.push({ node: n, spec, path: spec.startsWith('.') ? at(spec) : undefined, typeOnly, names, def, ns, bare: clause === undefined })
      continue
    }
    if (ts.isExportDeclaration(n)) {
      const spec = n.moduleSpecifier?.text
      const names = n.exportClause && ts.isNamedExports(n.exportClause) ? n.exportClause.elements.map((e) => ({ imported: (e.propertyName ?? e.name).text, exported: e.name.text, typeOnly: n.isTypeOnly || e.isTypeOnly })) : undefined
      info.exportsFrom.push({ node: n, spec, path: spec?.startsWith('.') ? at(spec) : undefined, typeOnly: n.isTypeOnly, names })
      continue
    }
    const add = (name, isType) => info.decls.set(name, { node: n, exported: hasExport(n), isType })
    if (ts.isVariableStatement(n)) { const out = []; n.declarationList.declarations.forEach((d) => bindingNames(d.name, out)); out.forEach((x) => add(x, false)) }
    else if (n.name && ts.isIdentifier(n.name)) add(n.name.text, isTypeDecl(n))
    if (!isTypeDecl(n)) info.runtimeLines += text.slice(n.getStart(sf), n.end).split('\n').length
  }
  const visit = (n) => {
    if (ts.isCallExpression(n) && n.expression.kind === SK.ImportKeyword && n.arguments[0] && ts.isStringLiteral(n.arguments[0]) && n.arguments[0].text.startsWith('.')) info.dynamic.add(at(n.arguments[0].text))
    else if (ts.isImportTypeNode(n) && n.argument.literal?.text?.startsWith('.')) info.typeRefs.add(at(n.argument.literal.text))
    ts.forEachChild(n, visit)
  }
  visit(sf)
  return info
}
export function readPlans(paths) {
  const to = new Map(), targets = new Map(), symbols = new Map(), members = new Map(), problems = [], headers = new Map()
  for (const p of paths) {
    const plan = JSON.parse(readFileSync(p, 'utf8'))
    for (const { to: t, from, header } of plan.files ?? []) {
      if (targets.has(t)) problems.push(`${t}: two entries with this target`)
      targets.set(t, [...(targets.get(t) ?? []), ...from])
      if (header) headers.set(t, header)
      for (const f of from) { if (to.has(f)) problems.push(`${f}: listed twice`); to.set(f, t) }
    }
    for (const [f, table] of Object.entries(plan.symbols ?? {})) symbols.set(f, { ...(symbols.get(f) ?? {}), ...table })
    for (const [f, table] of Object.entries(plan.members ?? {})) members.set(f, { ...(members.get(f) ?? {}), ...table })
  }
  return { to, targets, symbols, members, headers, problems }
}
