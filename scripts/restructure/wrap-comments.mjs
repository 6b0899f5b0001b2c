// Wraps comments at 100 columns in the files given (or all TypeScript and JavaScript files git knows, minus what Prettier ignores).
import { readFileSync, writeFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
const require = createRequire(resolve('package.json'))
const parser = require('@typescript-eslint/parser')
const MAX = 100
const args = process.argv.slice(2)
const files = (args.length ? args : execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' }).split('\n')).filter((f) => /\.(ts|tsx|mts|mjs|js|cjs)$/.test(f) && !/fixtures\/|golden\/|^dist|test\/recorded\//.test(f))
const wrap = (text, width) => { const lines = []; let line = ''; for (const w of text.split(/ +/)) { if (line && line.length + 1 + w.length > width) { lines.push(line); line = w } else line = line ? `${line} ${w}` : w } if (line) lines.push(line); return lines }
let changed = 0
for (const file of files) {
  let text
  try { text = readFileSync(file, 'utf8') } catch { continue }
  if (!text.split('\n').some((l) => l.length > MAX)) continue
  let ast
  try { ast = parser.parse(text, { range: true, loc: true, comment: true, jsx: /\.tsx$/.test(file), sourceType: 'module' }) } catch (e) { console.log(`${file}: ${e.message}`); continue }
  const edits = []
  for (const c of ast.comments) {
    const [start, end] = c.range
    const lineStart = text.lastIndexOf('\n', start - 1) + 1
    const before = text.slice(lineStart, start)
    const indent = /^\s*/.exec(before)[0]
    const raw = text.slice(start, end)
    const lineEnd = text.indexOf('\n', end) === -1 ? text.length : text.indexOf('\n', end)
    if (/@ts-|eslint|prettier-ignore|^\/\/ ?#?(region|endregion)|@__PURE__|sourceMappingURL|^#!/.test(raw)) continue
    if (c.type === 'Line') {
      if (before.length + raw.length <= MAX) continue
      const words = raw.replace(/^\/\/ ?/, '')
      if (before.trim() === '') edits.push({ start, end, text: wrap(words, MAX - indent.length - 3).map((l, i) => (i ? `${indent}// ${l}` : `// ${l}`)).join('\n') })
      else {
        // behind code: above it instead
        edits.push({ start: lineStart + before.trimEnd().length, end, text: '' })
        edits.push({ start: lineStart + indent.length, end: lineStart + indent.length, text: wrap(words, MAX - indent.length - 3).map((l) => `// ${l}\n${indent}`).join('') })
      }
    } else {
      const rows = raw.split('\n')
      if (!rows.some((r, i) => (i === 0 ? before.length : 0) + r.length > MAX)) continue
      if (before.trim() !== '' || !raw.startsWith('/*')) continue
      if (text.slice(end, lineEnd).trim() !== '' ) continue
      const isDoc = raw.startsWith('/**')
      if (rows.length === 1) {
        const words = raw.replace(/^\/\*\*? ?/, '').replace(/ ?\*\/$/, '')
        edits.push({ start, end, text: `${isDoc ? '/**' : '/*'}\n${wrap(words, MAX - indent.length - 3).map((l) => `${indent} * ${l}`).join('\n')}\n${indent} */` })
      } else {
        const out = rows.flatMap((r, i) => {
          const m = /^(\s*\* ?)(\s*(?:- )?)(.*)$/.exec(r)
          if (i === 0 || !m || r.length <= MAX || /\*\/$/.test(r.trim()) || /^\|/.test(m[3])) return [r]
          return wrap(m[3], MAX - m[1].length - m[2].length).map((l, k) => `${m[1]}${k ? ' '.repeat(m[2].length) : m[2]}${l}`)
        })
        const next = out.join('\n')
        if (next !== raw) edits.push({ start, end, text: next })
      }
    }
  }
  if (!edits.length) continue
  for (const e of edits.sort((a, b) => b.start - a.start || b.end - a.end)) text = text.slice(0, e.start) + e.text + text.slice(e.end)
  writeFileSync(file, text); changed += 1
}
console.log(`${changed} files`)
