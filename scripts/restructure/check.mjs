import { ts, listSource, readFile, readPlans } from './lib.mjs'
import { resolve, dirname } from 'node:path'
import { readFileSync } from 'node:fs'
const paths = process.argv.slice(2).filter((a) => !a.startsWith('--'))
const plan = readPlans(paths)
const files = listSource()
const infos = new Map(files.map((f) => [f, readFile(f)]))
const out = [...plan.problems]
const say = (s) => out.push(s)
const target = (f) => plan.to.get(f) ?? f
const renamed = (f, name) => (plan.symbols.get(f) && Object.hasOwn(plan.symbols.get(f), name) ? plan.symbols.get(f)[name] : name)

// coverage
const owned = new Set(paths.flatMap((p) => JSON.parse(readFileSync(p, 'utf8')).files.flatMap((e) => e.from)))
const folders = new Set([...owned].filter((f) => f.includes('/')).map((f) => f.split('/')[0]))
for (const f of owned) if (!infos.has(f)) say(`${f}: no such file`)
const missing = files.filter((f) => f.includes('/') && folders.has(f.split('/')[0]) && !owned.has(f))
if (missing.length) say(`not in any plan given (fine if another plan has them): ${missing.length} files: ${missing.slice(0, 12).join(', ')}${missing.length > 12 ? ' …' : ''}`)
for (const [f, table] of plan.symbols) for (const [old, now] of Object.entries(table)) {
  if (!infos.get(f)) { say(`symbols: ${f}: no such file`); continue }
  if (!infos.get(f).decls.has(old)) say(`symbols: ${f} has no top-level '${old}'`)
  if (!/^[A-Za-z_$][\w$]*$/.test(now)) say(`symbols: ${f}#${old}: '${now}' is no identifier`)
}
// where an exported name really comes from (through re-exports)
function origin(f, name, seen = new Set()) {
  const key = `${f}#${name}`; if (seen.has(key)) return key; seen.add(key)
  const info = infos.get(f); if (!info) return key
  if (info.decls.has(name)) return key
  for (const e of info.exportsFrom) {
    if (!e.names) { if (e.path) { const o = origin(e.path, name, seen); if (infos.get(o.split('#')[0])?.decls.has(o.split('#')[1])) return o } continue }
    const hit = e.names.find((x) => x.exported === name)
    if (hit && e.path) return origin(e.path, hit.imported, seen)
    if (hit) { const imp = info.imports.find((i) => i.names.some((x) => x.local === hit.imported)); if (imp?.path) return origin(imp.path, imp.names.find((x) => x.local === hit.imported).imported, seen) }
  }
  return key
}
const members = new Map(); for (const f of files) { const t = target(f); if (!members.has(t)) members.set(t, []); members.get(t).push(f) }
const groupsOf = new Map(readFileSync('groups.tsv', 'utf8').trim().split('\n').map((l) => l.split('\t')).map(([f, , g]) => [f, g]))
// collisions
for (const [t, list] of members) {
  if (list.length < 2) continue
  const names = new Map()
  const claim = (name, what, f) => {
    if (!names.has(name)) names.set(name, new Map())
    const m = names.get(name)
    if (!m.has(what)) m.set(what, [])
    m.get(what).push(f)
  }
  for (const f of list) {
    const info = infos.get(f)
    for (const name of info.decls.keys()) claim(renamed(f, name), `${f}#${name}`, f)
    for (const i of info.imports) {
      for (const x of i.names) {
        const o = i.path ? origin(i.path, x.imported) : `${i.spec}#${x.imported}`
        const [of, on] = i.path ? o.split('#') : [undefined, undefined]
        const local = i.path && x.local === on ? renamed(of, on) : i.path && x.local === x.imported ? renamed(of, on) : x.local
        claim(local, o, f)
      }
      if (i.def) claim(i.def, `${i.spec}#default`, f)
      if (i.ns) claim(i.ns, `${i.spec}#*`, f)
    }
  }
  for (const [name, m] of names) if (m.size > 1) say(`collision in ${t}: '${name}' is ${[...m].map(([w, fs]) => `${w}${fs[0] === w.split('#')[0] ? '' : ` (imported by ${fs.join(', ')})`}`).join(' and ')}`)
}
// duplicate type names
const types = new Map()
for (const f of files) for (const [name, d] of infos.get(f).decls) if (d.isType || ts.isClassDeclaration(d.node)) { const n = renamed(f, name); if (!types.has(n)) types.set(n, []); types.get(n).push(f) }
for (const [n, fs] of types) if (fs.length > 1 && fs.some((f) => owned.has(f))) say(`type name not unique: ${n}: ${fs.join(', ')}`)
// graphs
const edges = (f, kinds) => { const i = infos.get(f); return [...(kinds.includes('s') ? [...i.imports, ...i.exportsFrom].filter((x) => x.path && !(x.typeOnly || (x.names?.length > 0 && x.names.every((y) => y.typeOnly)))).map((x) => x.path) : []), ...(kinds.includes('t') ? [...[...i.imports, ...i.exportsFrom].filter((x) => x.path).map((x) => x.path), ...i.typeRefs] : []), ...(kinds.includes('d') ? i.dynamic : [])] }
const graph = new Map(); for (const t of members.keys()) graph.set(t, new Set())
for (const f of files) for (const e of edges(f, 'std')) if (target(e) !== target(f)) graph.get(target(f)).add(target(e))
// SCCs
{ let idx = 0; const st = [], low = new Map(), num = new Map(), on = new Set(), sccs = []
  const go = (v) => { num.set(v, idx); low.set(v, idx++); st.push(v); on.add(v)
    for (const w of graph.get(v) ?? []) { if (!graph.has(w)) continue; if (!num.has(w)) { go(w); low.set(v, Math.min(low.get(v), low.get(w))) } else if (on.has(w)) low.set(v, Math.min(low.get(v), num.get(w))) }
    if (low.get(v) === num.get(v)) { const c = []; let w; do { w = st.pop(); on.delete(w); c.push(w) } while (w !== v); if (c.length > 1) sccs.push(c) } }
  for (const v of graph.keys()) if (!num.has(v)) go(v)
  for (const c of sccs) { const set = new Set(c); const why = []
    for (const a of c) for (const b of graph.get(a)) if (set.has(b)) { const f = members.get(a).find((x) => edges(x, 'std').some((e) => target(e) === b)); const e = edges(f, 'std').find((e) => target(e) === b); why.push(`    ${a} → ${b}   (${f} → ${e})`) }
    say(`cycle among ${c.length} files:\n${why.join('\n')}`) } }
// dynamic became static / same file
for (const f of files) for (const d of infos.get(f).dynamic) if (target(d) === target(f)) say(`lazy boundary: ${f} imports ${d} with import(), and both are in ${target(f)}`)
// group mixing
const early = ['core', 'library', 'common', 'call', 'help', 'flags', 'schema', 'serving', 'registry', 'foreign', 'toolable', 'wire', 'mcp', 'late']
for (const [t, list] of members) {
  const by = new Map()
  for (const f of list) if (infos.get(f).runtimeLines > 0 || infos.get(f).exportsFrom.some((e) => !e.typeOnly)) { const g = groupsOf.get(f); if (!by.has(g)) by.set(g, []); by.get(g).push(f) }
  if (by.size > 1) say(`groups mixed in ${t}: ${[...by].sort((a, b) => early.indexOf(a[0]) - early.indexOf(b[0])).map(([g, fs]) => `${g} ${fs.reduce((n, f) => n + infos.get(f).runtimeLines, 0)} lines (${fs.slice(0, 4).join(', ')}${fs.length > 4 ? ', …' : ''})`).join(' + ')}`)
}
// closure growth of each lazily loaded root
const closure = (start, next) => { const seen = new Set(start); const todo = [...start]; while (todo.length) for (const e of next(todo.pop())) if (!seen.has(e) && (infos.has(e) || members.has(e))) { seen.add(e); todo.push(e) } return seen }
const size = (set) => [...set].reduce((n, f) => n + (infos.get(f)?.runtimeLines ?? 0), 0)
const roots = new Set(files.flatMap((f) => [...infos.get(f).dynamic])); ['index.ts', 'bin.ts', 'testing/index.ts', 'built/index.ts', 'build/look/child.ts', 'functions/load/hooks.ts', 'zod.ts'].forEach((r) => roots.add(r))
const after = new Map(); for (const [t, list] of members) after.set(t, new Set(list.flatMap((f) => edges(f, 's').map(target)).filter((x) => x !== t)))
const growth = []
for (const r of roots) { if (!infos.has(r)) continue
  const before = closure([r], (f) => edges(f, 's')); const now = closure([target(r)], (t) => after.get(t) ?? [])
  const nowFiles = new Set([...now].flatMap((t) => members.get(t) ?? []))
  const a = size(before), b = size(nowFiles); const extra = [...nowFiles].filter((f) => !before.has(f) && infos.get(f).runtimeLines > 0)
  if (b - a > 40 && b > a * 1.02) growth.push([b - a, `  ${r}: ${a} → ${b} runtime lines; new: ${extra.sort((x, y) => infos.get(y).runtimeLines - infos.get(x).runtimeLines).slice(0, 8).join(', ')}${extra.length > 8 ? ` +${extra.length - 8}` : ''}`]) }
growth.sort((x, y) => y[0] - x[0])
if (growth.length) say(`what a load pulls in grows (each root is an entry or a target of import()):\n${growth.slice(0, 40).map((g) => g[1]).join('\n')}`)
// layers
const layers = { util: [], protocol: ['util'], define: ['protocol'], core: ['define'], functions: ['core'], toolset: ['core', 'functions'], cli: ['core', 'functions', 'toolset', 'mcp', 'http', 'docs', 'install'], mcp: ['core', 'functions', 'toolset', 'cli', 'http', 'docs'], http: ['core', 'functions', 'toolset', 'cli', 'mcp', 'docs'], docs: ['core', 'functions', 'toolset', 'cli'], install: ['core', 'functions', 'toolset', 'cli', 'docs', 'mcp'], process: ['protocol', 'sandbox'], sandbox: ['process'], registry: ['core', 'functions', 'process', 'sandbox'], 'views/model': ['protocol'], runner: ['registry', 'views/model'], workflow: ['runner'], prompts: ['core', 'registry'], agent: ['prompts'], views: ['views/model', 'cli', 'http', 'mcp', 'workflow', 'toolset'], testing: ['cli', 'mcp', 'http', 'workflow', 'agent', 'prompts', 'views', 'toolset', 'install', 'docs'], bundler: ['cli', 'mcp', 'http', 'docs', 'install', 'toolset', 'functions', 'process'], commands: ['*'] }
const oldTo = { contract: 'protocol', call: 'core', surfaces: 'cli', prompting: 'agent', build: 'bundler', built: 'bundler' }
const layerOf = (t, isTarget) => { if (t.startsWith('views/model/')) return 'views/model'; const top = t.split('/')[0]; return t.includes('/') ? (plan.targets.has(t) ? top : oldTo[top] ?? top) : undefined }
const allowed = (l, seen = new Set()) => { if (seen.has(l)) return seen; seen.add(l); for (const n of (layers[l] ?? []).includes('*') ? Object.keys(layers) : layers[l] ?? []) allowed(n, seen); return seen }
const bad = new Set()
for (const f of files) { const from = layerOf(target(f)); if (!from) continue; if (!layers[from]) { bad.add(`folder '${from}' is no layer`); continue }
  for (const e of edges(f, 'std')) { const l = layerOf(target(e)); if (l && !allowed(from).has(l)) bad.add(`${from} may not import ${l}: ${target(f)} → ${target(e)} (${f} → ${e})`) } }
for (const b of bad) say(b)
// sizes and names
const base = new Map()
for (const t of plan.targets.keys()) { const lines = plan.targets.get(t).reduce((n, f) => n + (infos.get(f)?.lines ?? 0), 0); if (lines > 330) say(`large: ${t} ${lines} lines today`); if (lines < 25 && !/index\.ts$/.test(t)) say(`small: ${t} ${lines} lines`)
  if (t.split('/').length > 3) say(`deep: ${t}`); const k = t.split('/')[0] + '/' + t.split('/').at(-1); if (base.has(k)) say(`basename twice: ${base.get(k)} and ${t}`); base.set(k, t) }
console.log(out.join('\n') || 'clean')
const sum = (re) => [...plan.targets.keys()].length
console.log(`\n${owned.size} files → ${plan.targets.size}; per folder: ${Object.entries([...plan.targets.keys()].reduce((m, t) => ({ ...m, [t.split('/')[0]]: (m[t.split('/')[0]] ?? 0) + 1 }), {})).map(([k, v]) => `${k} ${v}`).join(', ')}`)
