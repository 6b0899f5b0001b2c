// node spreads.mjs [folder…]: turns `...(x !== undefined && { x })` in objects into `...compact({ x })`.
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { ts } from './lib.mjs'
const only = process.argv.slice(2).map((f) => resolve(f) + (f.endsWith('.ts') ? '' : '/'))
const COMPACT = resolve('src/util/values.ts')
const config = ts.getParsedCommandLineOfConfigFile('tsconfig.json', { noEmit: true }, { ...ts.sys, onUnRecoverableConfigFileDiagnostic() {} })
const program = ts.createProgram(config.fileNames.filter((f) => f.includes('/src/')), config.options)
const checker = program.getTypeChecker()
const K = ts.SyntaxKind
const bare = (e) => { while (ts.isParenthesizedExpression(e)) e = e.expression; return e }
let done = 0, left = 0
const mayBeUndefined = (t) => (t.isUnion() ? t.types : [t]).some((x) => x.flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Any | ts.TypeFlags.Unknown | ts.TypeFlags.Void | ts.TypeFlags.TypeParameter | ts.TypeFlags.IndexedAccess | ts.TypeFlags.Conditional))
const isPlainProperty = (p) => {
  if (ts.isShorthandPropertyAssignment(p)) { const sym = checker.getShorthandAssignmentValueSymbol(p); return sym !== undefined && !mayBeUndefined(checker.getTypeOfSymbolAtLocation(sym, p.name)) }
  if (!ts.isPropertyAssignment(p) || ts.isComputedPropertyName(p.name)) return false
  const v = bare(p.initializer)
  if (ts.isFunctionLike(v)) return v.parameters.every((q) => q.type !== undefined)
  if (ts.isObjectLiteralExpression(v) && v.properties.some((q) => ts.isMethodDeclaration(q))) return false
  return !mayBeUndefined(checker.getTypeAtLocation(p.initializer))
}
const leftovers = []
for (const sf of program.getSourceFiles()) {
  if (sf.isDeclarationFile || !sf.fileName.startsWith(resolve('src') + '/') || sf.fileName === COMPACT) continue
  if (only.length && !only.some((o) => sf.fileName === o || sf.fileName.startsWith(o))) continue
  let text = sf.text
  let again = true, touched = false
  // innermost first: one pass per nesting level, on syntax only after the first; types come from the first program, so nested ones are done by text inside the same pass
  const render = (node) => { // text of a node with the spreads inside it rewritten
    const parts = []
    collectNode(node, parts)
    let out = text.slice(node.getStart(sf), node.end)
    const base = node.getStart(sf)
    for (const p of parts.sort((a, b) => b.start - a.start)) out = out.slice(0, p.start - base) + p.text + out.slice(p.end - base)
    return out
  }
  const entry = (p) => { // a conditional spread with one plain property → 'key: value' or undefined
    if (!ts.isSpreadAssignment(p)) return undefined
    const e = bare(p.expression)
    if (!ts.isBinaryExpression(e) || e.operatorToken.kind !== K.AmpersandAmpersandToken) return undefined
    const o = bare(e.right)
    if (!ts.isObjectLiteralExpression(o) || o.properties.length !== 1) return undefined
    const q = o.properties[0]
    if (!ts.isPropertyAssignment(q) && !ts.isShorthandPropertyAssignment(q)) return undefined
    if (ts.isPropertyAssignment(q) && ts.isComputedPropertyName(q.name)) return undefined
    const key = q.name.getText(sf)
    const valueNode = ts.isShorthandPropertyAssignment(q) ? q.name : q.initializer
    const raw = valueNode.getText(sf)
    const value = ts.isShorthandPropertyAssignment(q) ? raw : render(valueNode)
    const pair = (v) => (v === key && /^[A-Za-z_$][\w$]*$/.test(key) ? key : `${key}: ${v}`)
    const isUndefinedCheck = (c) => { c = bare(c); return ts.isBinaryExpression(c) && c.operatorToken.kind === K.ExclamationEqualsEqualsToken && c.right.getText(sf) === 'undefined' ? c.left.getText(sf) : undefined }
    const wrap = (s, n) => (ts.isConditionalExpression(n) || ts.isArrowFunction(n) || ts.isAwaitExpression(n) && false || (ts.isBinaryExpression(n) && [K.QuestionQuestionToken, K.BarBarToken, K.AmpersandAmpersandToken, K.CommaToken].includes(n.operatorToken.kind)) ? `(${s})` : s)
    const cond = render(e.left)
    const checked = isUndefinedCheck(e.left)
    if (checked === raw) return pair(value)
    if (e.left.getText(sf) === raw) {
      const t = checker.getTypeAtLocation(e.left)
      const types = t.isUnion() ? t.types : [t]
      const onlyUndefined = types.every((x) => x.flags & ts.TypeFlags.Undefined || x.flags & (ts.TypeFlags.Object | ts.TypeFlags.NonPrimitive) || (x.flags & ts.TypeFlags.Intersection) || x.flags & ts.TypeFlags.ESSymbolLike || (x.isStringLiteral?.() && x.value !== '') || (x.isNumberLiteral?.() && x.value !== 0) || x.intrinsicName === 'true')
      return pair(onlyUndefined ? value : `${wrap(value, bare(valueNode))} || undefined`)
    }
    const left = bare(e.left)
    if (raw === 'true') {
      const t = checker.getTypeAtLocation(e.left)
      if (t.flags & ts.TypeFlags.BooleanLike || (t.isUnion() && t.types.every((x) => x.flags & ts.TypeFlags.BooleanLike))) return `${key}: ${ts.isBinaryExpression(left) && left.operatorToken.kind === K.QuestionQuestionToken ? `(${cond})` : cond} || undefined`
    }
    const inner = wrap(value, bare(valueNode))
    const condText = ts.isConditionalExpression(left) || ts.isArrowFunction(left) ? `(${cond})` : cond
    // `y === undefined ? undefined : f(y)` reads better with the condition as it was
    return `${key}: ${condText} ? ${inner} : undefined`
  }
  const collect = (node, parts) => { ts.forEachChild(node, (child) => collectNode(child, parts)) }
  const collectNode = (child, parts) => {
      if (ts.isObjectLiteralExpression(child)) {
        const props = child.properties
        const entries = props.map(entry)
        if (!entries.some((x) => x !== undefined)) { leftCount(child); collect(child, parts); return }
        const all = entries.every((x) => x !== undefined) && !hasComments(child)
        // The whole object, where no other field can be undefined and none is a function that needs a context for its types.
        const whole = !all && !props.some((p, i) => entries[i] === undefined && !isPlainProperty(p))
        if (whole) {
          const texts = props.map((p, i) => { const lead = text.slice(p.getFullStart(), p.getStart(sf)); const c = /\/[/*]/.test(lead) ? lead.trim() + '\n' : ''; return c + (entries[i] ?? render(p)) })
          parts.push({ start: child.getStart(sf), end: child.end, text: `compact({ ${texts.join(', ')} })` }); done += entries.filter(Boolean).length; touched = true; return
        }
        if (all) { parts.push({ start: child.getStart(sf), end: child.end, text: `compact({ ${entries.join(', ')} })` }); done += entries.length; touched = true; return }
        let i = 0
        while (i < props.length) {
          if (entries[i] === undefined) { collectOne(props[i], parts); i += 1; continue }
          let j = i
          while (j + 1 < props.length && entries[j + 1] !== undefined && !comment(props[j + 1])) j += 1
          parts.push({ start: props[i].getStart(sf), end: props[j].end, text: `...compact({ ${entries.slice(i, j + 1).join(', ')} })` })
          done += j - i + 1; touched = true
          i = j + 1
        }
        leftCount(child)
        return
      }
      collect(child, parts)
  }
  const collectOne = (node, parts) => collectNode(node, parts)
  const comment = (n) => (ts.getLeadingCommentRanges(text, n.getFullStart()) ?? []).length > 0
  const hasComments = (o) => o.properties.some(comment)
  const leftCount = (o) => { for (const p of o.properties) if (ts.isSpreadAssignment(p)) { const e = bare(p.expression); if (ts.isBinaryExpression(e) && e.operatorToken.kind === K.AmpersandAmpersandToken && entry(p) === undefined) { left += 1; leftovers.push(`${relative('.', sf.fileName)}:${sf.getLineAndCharacterOfPosition(p.getStart(sf)).line + 1}: ${p.getText(sf).slice(0, 120)}`) } } }
  const parts = []
  // collectOne must walk the real node
  const realCollect = collect
  const walk = (node) => realCollect(node, parts)

  walk(sf)
  if (!touched) continue
  for (const p of parts.sort((a, b) => b.start - a.start)) text = text.slice(0, p.start) + p.text + text.slice(p.end)
  // import
  if (!/import \{[^}]*\bcompact\b[^}]*\} from/.test(text)) {
    const spec = relative(dirname(sf.fileName), COMPACT); const line = `import { compact } from '${spec.startsWith('.') ? spec : './' + spec}'\n`
    const m = /^import /m.exec(text)
    const at = m ? m.index : (/^\/\*\*[\s\S]*?\*\/\n\n/.exec(text)?.[0].length ?? 0)
    text = text.slice(0, at) + line + (m ? '' : '\n') + text.slice(at)
  }
  writeFileSync(sf.fileName, text)

}
console.log(leftovers.join('\n'))
console.log(`${done} conditional spreads rewritten, ${left} left`)
