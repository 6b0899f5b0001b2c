// node merge.mjs plan.json…   merges and moves files of src/ (cwd), rewrites every import in the checkout.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { execFileSync } from 'node:child_process'
import { ts, SK, listSource, readFile, readPlans } from './lib.mjs'
const plan = readPlans(process.argv.slice(2).filter((a) => !a.startsWith('--')))
const problems = [...plan.problems]
const root = process.cwd()
const src = listSource()
const infos = new Map(src.map((f) => [f, readFile(f)]))
const target = (f) => plan.to.get(f) ?? f
const sources = new Map(); for (const [t, from] of plan.targets) sources.set(t, from.filter((f) => infos.has(f) || (problems.push(`${f}: no such file`), false)))
// other TypeScript and JavaScript files that import from src/
const others = execFileSync('git', ['ls-files', 'test', 'dashboard', 'bench', 'examples', 'scripts', 'docs', '*.ts', '*.js', '*.mjs'], { encoding: 'utf8' }).split('\n').filter((f) => /\.(tsx?|mts|mjs|js|cjs)$/.test(f) && !f.startsWith('src/') && existsSync(f))

/** Every place in a file that names a module by a relative path: { start, end, path (absolute) }, quotes left out. */
function listPaths(file, text) {
  const sf = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, /\.tsx$/.test(file) ? ts.ScriptKind.TSX : undefined)
  const found = []
  const add = (node, kind, decl) => { if (node && ts.isStringLiteralLike(node) && /^\.{1,2}\//.test(node.text)) found.push({ start: node.getStart(sf) + 1, end: node.end - 1, text: node.text, path: resolve(dirname(file), node.text), kind, decl }) }
  const visit = (n) => {
    if (ts.isImportDeclaration(n) || ts.isExportDeclaration(n)) add(n.moduleSpecifier, ts.isImportDeclaration(n) ? 'import' : 'export', n)
    else if (ts.isCallExpression(n) && n.expression.kind === SK.ImportKeyword) add(n.arguments[0], 'dynamic')
    else if (ts.isImportTypeNode(n)) add(n.argument.literal, 'type')
    else if (ts.isNewExpression(n) && n.expression.getText(sf) === 'URL') add(n.arguments?.[0], 'url')
    else if (ts.isCallExpression(n) && /^vi\.(mock|importActual|doMock)$/.test(n.expression.getText(sf))) add(n.arguments[0], 'mock')
    ts.forEachChild(n, visit)
  }
  visit(sf)
  return { sf, found }
}
const srcRoot = resolve('src') + '/'
const asSource = (abs) => (abs.startsWith(srcRoot) ? abs.slice(srcRoot.length) : undefined)
const specifier = (fromFile, toFile) => { const r = relative(dirname(fromFile), toFile).replaceAll('\\', '/'); return r.startsWith('.') ? r : `./${r}` }
function applyEdits(text, edits) { for (const e of [...edits].sort((a, b) => b.start - a.start)) text = text.slice(0, e.start) + e.text + text.slice(e.end); return text }

// what must stay exported
const needed = new Map() // source file → Set(names) | 'all'
const need = (f, name) => { if (needed.get(f) === 'all') return; if (name === 'all') return needed.set(f, 'all'); if (!needed.has(f)) needed.set(f, new Set()); needed.get(f).add(name) }
for (const info of infos.values()) {
  for (const i of info.imports) if (i.path) { if (i.ns) need(i.path, 'all'); for (const x of i.names) if (target(i.path) !== target(info.file)) need(i.path, x.imported) }
  for (const e of info.exportsFrom) if (e.path) { if (!e.names) need(e.path, 'all'); else for (const x of e.names) need(e.path, x.imported) }
  for (const d of info.dynamic) need(d, 'all')
  for (const t of info.typeRefs) if (target(t) !== target(info.file)) need(t, 'all')
}
const otherFiles = others.map((f) => ({ file: f, text: readFileSync(f, 'utf8') })).filter(({ text }) => text.includes('src/'))
for (const { file, text } of otherFiles) for (const p of listPaths(resolve(file), text).found) {
  const s = asSource(p.path); if (!s || !infos.has(s)) continue
  if (p.decl && ts.isImportDeclaration(p.decl) && p.decl.importClause?.namedBindings && ts.isNamedImports(p.decl.importClause.namedBindings)) p.decl.importClause.namedBindings.elements.forEach((e) => need(s, (e.propertyName ?? e.name).text))
  else need(s, 'all')
}
// through re-exports inside one target
for (const [t, from] of sources) for (const f of from) for (const e of infos.get(f).exportsFrom) if (e.path && target(e.path) === t) {
  for (const x of e.names ?? []) if (x.imported !== x.exported) problems.push(`${f}: re-export ${x.imported} as ${x.exported} inside ${t}`)
}

/** Text of a source without imports, with new paths, and without `export` where only this file uses a name. */
function bodyOf(f, t) {
  const info = infos.get(f)
  const { text, sf } = info
  const edits = []
  for (const p of listPaths(resolve('src', f), text).found) {
    const s = asSource(p.path)
    if (p.kind === 'import') continue
    if (p.kind === 'url' || !s || !infos.has(s)) { if (dirname(f) !== dirname(t)) { if (existsSync(p.path)) edits.push({ start: p.start, end: p.end, text: specifier(join('src', t), relative(root, p.path)) }); problems.push(`${f}: '${p.text}' (${p.kind}) names something by path; check it by hand`) } continue }
    if (p.kind === 'export' && target(s) === t) continue
    if (p.kind === 'type' && target(s) === t) { problems.push(`${f}: import('${p.text}') type of the same file`); continue }
    edits.push({ start: p.start, end: p.end, text: specifier(join('src', t), join('src', target(s))) })
  }
  const drop = (n) => { let end = n.end; while (text[end] === ' ') end += 1; if (text[end] === '\n') end += 1; edits.push({ start: n.getStart(sf), end, text: '' }) }
  for (const i of info.imports) drop(i.node)
  for (const e of info.exportsFrom) if (e.path && target(e.path) === t && e.path !== f) drop(e.node)
  const keep = needed.get(f)
  if (sources.get(t).length > 1 && keep !== 'all') for (const [name, d] of info.decls) {
    if (!d.exported || keep?.has(name)) continue
    if (ts.isVariableStatement(d.node) && d.node.declarationList.declarations.some((x) => ts.isIdentifier(x.name) && keep?.has(x.name.text))) continue
    const m = d.node.modifiers.find((x) => x.kind === SK.ExportKeyword)
    if (!edits.some((e) => e.start === m.getStart(sf))) edits.push({ start: m.getStart(sf), end: m.end + 1, text: '' })
    // overloads share a name
    for (const s of sf.statements) if (s !== d.node && ts.isFunctionDeclaration(s) && s.name?.text === name) { const k = s.modifiers?.find((x) => x.kind === SK.ExportKeyword); if (k && !edits.some((e) => e.start === k.getStart(sf))) edits.push({ start: k.getStart(sf), end: k.end + 1, text: '' }) }
  }
  return applyEdits(text, edits).replace(/^\n+/, '').replace(/\n+$/, '')
}
/** Import lines of several groups of imports, joined by module. */
function writeImports(list) {
  const value = new Map(), type = new Map(), other = new Set()
  for (const i of list) {
    if (i.bare) { other.add(`import '${i.spec}'`); continue }
    if (i.ns) other.add(`import ${i.typeOnly ? 'type ' : ''}* as ${i.ns} from '${i.spec}'`)
    if (i.def) other.add(`import ${i.typeOnly ? 'type ' : ''}${i.def} from '${i.spec}'`)
    for (const x of i.names) { const m = x.typeOnly ? type : value; if (!m.has(i.spec)) m.set(i.spec, new Map()); m.get(i.spec).set(x.local, x.imported) }
  }
  for (const [spec, names] of type) for (const local of names.keys()) if (value.get(spec)?.has(local)) names.delete(local)
  const line = (kind, spec, names) => `import ${kind}{ ${[...names].sort(([a], [b]) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1)).map(([local, imported]) => (local === imported ? local : `${imported} as ${local}`)).join(', ')} } from '${spec}'`
  const rows = [...[...other].map((text) => ({ spec: /'([^']+)'$/.exec(text)[1], text, kind: 0 })), ...[...value].filter(([, n]) => n.size).map(([spec, n]) => ({ spec, text: line('', spec, n), kind: 1 })), ...[...type].filter(([, n]) => n.size).map(([spec, n]) => ({ spec, text: line('type ', spec, n), kind: 2 }))]
  const rank = (s) => (s.startsWith('node:') ? 0 : s.startsWith('../') ? 2 : s.startsWith('./') ? 3 : 1)
  rows.sort((a, b) => rank(a.spec) - rank(b.spec) || (a.spec < b.spec ? -1 : a.spec > b.spec ? 1 : a.kind - b.kind))
  return rows.map((r) => r.text).join('\n')
}
const written = new Map()
for (const [t, from] of sources) {
  const imports = []
  for (const f of from) for (const i of infos.get(f).imports) {
    if (i.path && infos.has(i.path)) {
      if (target(i.path) === t) { for (const x of i.names) if (x.imported !== x.local) problems.push(`${f}: import { ${x.imported} as ${x.local} } of ${i.path}, both in ${t}`); if (i.ns) problems.push(`${f}: import * of ${i.path} inside ${t}`); continue }
      imports.push({ ...i, spec: specifier(join('src', t), join('src', target(i.path))) })
    } else if (i.path) { problems.push(`${f}: import of ${i.spec}: check by hand`); imports.push({ ...i, spec: specifier(join('src', t), join('src', i.path)) }) }
    else imports.push(i)
  }
  const header = plan.headers.get(t)
  const comment = header ? `/**\n${header.split('\n').map((l) => (l ? ` * ${l}` : ' *')).join('\n')}\n */\n` : ''
  const head = writeImports(imports)
  const bodies = from.map((f) => bodyOf(f, t)).filter((b) => b !== '')
  written.set(t, `${comment}${head ? `${comment ? '\n' : ''}${head}\n\n` : comment ? '\n' : ''}${bodies.join('\n\n')}\n`)
}
// importers that are not part of the plan
function rewriteImporter(file, text, isSrc) {
  const abs = resolve(file)
  const { sf, found } = listPaths(abs, text)
  const edits = []
  let moved = false
  for (const p of found) {
    const s = asSource(p.path)
    if (!s || !infos.has(s) || target(s) === s) continue
    moved = true
    edits.push({ start: p.start, end: p.end, text: specifier(abs, resolve('src', target(s))) })
  }
  if (!moved) return text
  text = applyEdits(text, edits)
  return joinImports(file, text)
}
/** Joins import declarations of one module and kind that stand in one file. */
function joinImports(file, text) {
  const sf = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, /\.tsx$/.test(file) ? ts.ScriptKind.TSX : undefined)
  const seen = new Map()
  const edits = []
  for (const n of sf.statements) {
    if (!ts.isImportDeclaration(n) || !n.importClause?.namedBindings || !ts.isNamedImports(n.importClause.namedBindings) || n.importClause.name) continue
    const key = `${n.importClause.isTypeOnly ? 'type ' : ''}${n.moduleSpecifier.text}`
    if (!seen.has(key)) seen.set(key, [])
    seen.get(key).push(n)
  }
  for (const list of seen.values()) {
    if (list.length < 2) continue
    const names = new Map()
    for (const n of list) for (const e of n.importClause.namedBindings.elements) names.set(e.getText(sf).replace(/^type /, ''), e.getText(sf))
    const sorted = [...names.values()].sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1))
    const first = list[0]
    edits.push({ start: first.getStart(sf), end: first.end, text: `import ${first.importClause.isTypeOnly ? 'type ' : ''}{ ${sorted.join(', ')} } from '${first.moduleSpecifier.text}'${text[first.end - 1] === ';' ? ';' : ''}` })
    for (const n of list.slice(1)) { let end = n.end; if (text[end] === '\n') end += 1; edits.push({ start: n.getStart(sf), end, text: '' }) }
  }
  return applyEdits(text, edits)
}
const changed = new Map()
for (const f of src) if (!plan.to.has(f)) { const now = rewriteImporter(join('src', f), infos.get(f).text); if (now !== infos.get(f).text) changed.set(join('src', f), now) }
for (const { file, text } of otherFiles) { const now = rewriteImporter(file, text); if (now !== text) changed.set(file, now) }
for (const [f, text] of changed) writeFileSync(f, text)
for (const f of plan.to.keys()) if (existsSync(join('src', f))) rmSync(join('src', f))
for (const [t, text] of written) { mkdirSync(dirname(join('src', t)), { recursive: true }); if (existsSync(join('src', t))) problems.push(`${t}: exists already`); writeFileSync(join('src', t), text) }
// empty folders
const prune = (d) => { for (const e of readdirSync(d, { withFileTypes: true })) if (e.isDirectory()) prune(join(d, e.name)); if (readdirSync(d).length === 0) rmSync(d, { recursive: true }) }
prune('src')
// paths in scripts, docs, tests and configuration, as text
const texts = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).split('\n').filter((f) => f && /\.(md|mjs|mts|js|ts|tsx|json|css|html|py|sh)$/.test(f) && !f.startsWith('src/') && f !== 'CHANGELOG.md' && f !== 'package-lock.json' && existsSync(f))
let textual = 0
for (const f of texts) {
  let text = readFileSync(f, 'utf8')
  if (!text.includes('src/')) continue
  const now = text.replace(/(?<![\w@-])src\/[\w./-]+\.ts\b/g, (m) => { const s = m.slice(4); if (!plan.to.has(s)) return m; textual += 1; return `src/${plan.to.get(s)}` })
  if (now !== text) writeFileSync(f, now)
}
console.log(problems.join('\n'))
console.log(`${plan.to.size} files → ${sources.size}; ${changed.size} importers changed, ${textual} paths in texts, ${problems.length} problems`)
