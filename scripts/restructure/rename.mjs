// node rename.mjs plan.json…   renames top-level symbols and members in the whole checkout (cwd). --dry: only report.
import { readFileSync, writeFileSync, existsSync } from 'node:fs'
import { resolve, relative } from 'node:path'
import { ts, readPlans } from './lib.mjs'
const dry = process.argv.includes('--dry')
const plan = readPlans(process.argv.slice(2).filter((a) => !a.startsWith('--')))
const root = process.cwd()
const PROJECTS = ['tsconfig.json', 'examples/tsconfig.json', 'dashboard/tsconfig.json', 'test/dashboard/tsconfig.json']
const names = new Set()
let options
for (const p of PROJECTS) {
  const c = ts.getParsedCommandLineOfConfigFile(p, { noEmit: true }, { ...ts.sys, onUnRecoverableConfigFileDiagnostic() {} })
  options ??= c.options
  c.fileNames.filter((f) => /\.tsx?$/.test(f)).forEach((f) => names.add(f))
}
options = { ...options, lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'], jsx: ts.JsxEmit.ReactJSX, jsxImportSource: 'preact', noUnusedLocals: false, types: ['node'] }
const versions = new Map([...names].map((f) => [f, '1']))
const host = {
  getScriptFileNames: () => [...names], getScriptVersion: () => '1', getScriptSnapshot: (f) => (existsSync(f) ? ts.ScriptSnapshot.fromString(readFileSync(f, 'utf8')) : undefined),
  getCurrentDirectory: () => root, getCompilationSettings: () => options, getDefaultLibFileName: (o) => ts.getDefaultLibFilePath(o), fileExists: ts.sys.fileExists, readFile: ts.sys.readFile, readDirectory: ts.sys.readDirectory, directoryExists: ts.sys.directoryExists, getDirectories: ts.sys.getDirectories, realpath: ts.sys.realpath,
}
const service = ts.createLanguageService(host)
const program = service.getProgram()
const checker = program.getTypeChecker()
const problems = []
const edits = new Map() // file → Map(start → {end, symbol, member})
const edit = (file, start, end) => { if (!edits.has(file)) edits.set(file, new Map()); const m = edits.get(file); if (!m.has(start)) m.set(start, { start, end }); return m.get(start) }
const PUBLIC = new Set(['src/index.ts', 'src/zod.ts', 'src/testing/index.ts', 'src/built/index.ts', 'src/bundler/built.ts', 'src/bundler/index.ts'].map((f) => resolve(f)))

// targets: declaration node → new name
const byDecl = new Map(), oldNames = new Set()
const declName = (n) => (n.name && ts.isIdentifier(n.name) ? n.name : undefined)
for (const [f, table] of plan.symbols) {
  const sf = program.getSourceFile(resolve('src', f))
  if (!sf) { problems.push(`no such file: ${f}`); continue }
  for (const [old, now] of Object.entries(table)) {
    if (old === now) continue
    let found = false
    for (const s of sf.statements) {
      const list = ts.isVariableStatement(s) ? s.declarationList.declarations : [s]
      for (const d of list) if (declName(d)?.text === old) { byDecl.set(d, now); found = true; oldNames.add(old) }
    }
    if (!found) problems.push(`${f} has no '${old}'`)
  }
}
const resolveSym = (s) => { while (s && s.flags & ts.SymbolFlags.Alias) { const t = checker.getAliasedSymbol(s); if (t === s) break; s = t } return s }
const newNameOf = (s) => { s = resolveSym(s); for (const d of s?.declarations ?? []) if (byDecl.has(d)) return byDecl.get(d); return undefined }
// pre-pass: const { a } = await import('…') binds a local of the same name
for (const sf of program.getSourceFiles()) {
  if (sf.isDeclarationFile || sf.fileName.includes('node_modules')) continue
  const visit = (n) => {
    if (ts.isBindingElement(n) && ts.isIdentifier(n.name) && ts.isObjectBindingPattern(n.parent)) {
      const key = n.propertyName ?? n.name
      if (ts.isIdentifier(key) && oldNames.has(key.text)) {
        const prop = checker.getTypeAtLocation(n.parent).getProperty(key.text)
        const now = newNameOf(prop)
        if (now) {
          if (n.propertyName) edit(sf.fileName, key.getStart(sf), key.end).text = now
          else { n.__renamedBinding = now; byDecl.set(n, now) }
        }
      }
    }
    ts.forEachChild(n, visit)
  }
  visit(sf)
}
const conflicts = []
for (const sf of program.getSourceFiles()) {
  if (sf.isDeclarationFile || sf.fileName.includes('node_modules')) continue
  const file = sf.fileName
  const visit = (n) => {
    if (ts.isIdentifier(n) && oldNames.has(n.text)) handle(n)
    ts.forEachChild(n, visit)
  }
  const check = (n, now) => {
    const hit = checker.resolveName(now, n, ts.SymbolFlags.Value | ts.SymbolFlags.Type | ts.SymbolFlags.Alias, false)
    if (!hit) return
    const r = resolveSym(hit)
    if (newNameOf(hit) !== undefined) { if (newNameOf(hit) === now || newNameOf(hit) !== undefined) return }
    const target = resolveSym(checker.getSymbolAtLocation(n))
    if (r === target) return
    const isValueHit = r.flags & ts.SymbolFlags.Value
    const isGlobal = r.declarations?.every((d) => d.getSourceFile().isDeclarationFile)
    const { line } = sf.getLineAndCharacterOfPosition(n.getStart(sf))
    if (isGlobal) { return }
    const isTypeUse = target && !(target.flags & ts.SymbolFlags.Value)
    if (isTypeUse && !(r.flags & ts.SymbolFlags.Type)) return
    if (!isTypeUse && !isValueHit) return
    conflicts.push(`${relative(root, file)}:${line + 1}: ${n.text} → ${now} is shadowed by another '${now}' (${relative(root, r.declarations?.[0]?.getSourceFile().fileName ?? '?')})`)
  }
  const handle = (n) => {
    const p = n.parent
    const put = (text) => { edit(file, n.getStart(sf), n.end).text = text }
    if (ts.isImportSpecifier(p)) {
      const now = newNameOf(checker.getSymbolAtLocation(p.name))
      if (!now) return
      if (p.propertyName) { if (n === p.propertyName) { if (p.name.text === now) { const e = edit(file, p.propertyName.getStart(sf), p.name.end); e.end = p.name.end; e.text = now } else put(now) } return }
      put(now); check(n, now); return
    }
    if (ts.isExportSpecifier(p)) {
      const sym = checker.getExportSpecifierLocalTargetSymbol(p)
      const now = newNameOf(sym)
      if (!now) return
      if (p.propertyName) { if (n === p.propertyName) { if (p.name.text === now) { const e = edit(file, p.propertyName.getStart(sf), p.name.end); e.end = p.name.end; e.text = now } else put(now) } return }
      put(PUBLIC.has(file) ? `${now} as ${n.text}` : now); return
    }
    if (ts.isShorthandPropertyAssignment(p) && p.name === n) {
      const now = newNameOf(checker.getShorthandAssignmentValueSymbol(p))
      if (now) { const e = edit(file, n.getStart(sf), n.end); e.symbol = now; e.old = n.text; check(n, now) }
      return
    }
    if (ts.isBindingElement(p) && p.name === n) {
      if (byDecl.has(p)) { put(byDecl.get(p)); check(n, byDecl.get(p)) }
      return
    }
    if (ts.isBindingElement(p) && p.propertyName === n) return
    const now = newNameOf(checker.getSymbolAtLocation(n))
    if (!now) return
    put(now)
    if (!(ts.isPropertyAccessExpression(p) && p.name === n) && !(ts.isQualifiedName(p) && p.right === n)) check(n, now)
  }
  visit(sf)
}
// members
let memberCount = 0
for (const [f, table] of plan.members) {
  const path = resolve('src', f)
  const sf = program.getSourceFile(path)
  if (!sf) { problems.push(`members: no such file ${f}`); continue }
  for (const [key, now] of Object.entries(table)) {
    const [typeName, member] = key.split('.')
    const found = []
    const find = (n) => {
      if ((ts.isTypeAliasDeclaration(n) || ts.isInterfaceDeclaration(n) || ts.isClassDeclaration(n) || ts.isFunctionDeclaration(n)) && n.name?.text === typeName) {
        const inner = (m) => { if ((ts.isPropertySignature(m) || ts.isMethodSignature(m) || ts.isPropertyDeclaration(m) || ts.isMethodDeclaration(m) || ts.isGetAccessor(m) || ts.isParameter(m)) && m.name && ts.isIdentifier(m.name) && m.name.text === member) found.push(m.name); else if (ts.isPrivateIdentifier?.(m.name ?? m) && (m.name ?? m).text === member) found.push(m.name); ts.forEachChild(m, inner) }
        ts.forEachChild(n, inner)
      } else ts.forEachChild(n, find)
    }
    find(sf)
    if (found.length === 0) { problems.push(`members: ${f}: ${key} not found`); continue }
    for (const at of found) {
      const locations = service.findRenameLocations(path, at.getStart(sf), false, false, { providePrefixAndSuffixTextForRename: true }) ?? []
      for (const l of locations) {
        if (l.fileName.includes('node_modules')) { problems.push(`members: ${f}: ${key} also in ${l.fileName}`); continue }
        const e = edit(l.fileName, l.textSpan.start, l.textSpan.start + l.textSpan.length)
        if (l.prefixText && !l.suffixText) { e.asPrefix = l.prefixText; e.memberAlias = now; e.old = member } // var of that name: prefix "m: "
        else { e.member = now; e.suffix = l.suffixText ?? ''; e.old = member }
        memberCount += 1
      }
    }
  }
}
let count = 0, touched = 0
for (const [file, map] of edits) {
  let text = readFileSync(file, 'utf8')
  const list = [...map.values()].sort((a, b) => b.start - a.start)
  for (const e of list) {
    let now
    if (e.text !== undefined) now = e.text
    else if (e.symbol !== undefined && e.member !== undefined) now = e.member === e.symbol ? e.symbol : `${e.member}: ${e.symbol}`
    else if (e.symbol !== undefined) now = `${e.old}: ${e.symbol}`
    else if (e.member !== undefined) now = `${e.member}${e.suffix}`
    else if (e.memberAlias !== undefined) now = `${e.asPrefix}${e.memberAlias}`
    text = text.slice(0, e.start) + now + text.slice(e.end)
    count += 1
  }
  touched += 1
  if (!dry) writeFileSync(file, text)
}
console.log([...problems, ...conflicts.map((c) => `conflict: ${c}`)].join('\n'))
console.log(`${count} edits in ${touched} files (${memberCount} of members); ${conflicts.length} conflicts, ${problems.length} problems`)
