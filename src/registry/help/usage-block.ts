import type { LineLook } from './layout.ts'

/** The lines of a usage, and the line after them. */
export type UsageBlock = { readonly lines: readonly string[]; readonly next: number }

const INLINE = /^(?:usage|synopsis|use(?=: *\S+ [[<-]))\s*: ?\s*(?=\S)/i
const ALONE = /^(?:#+ *)?(?:usage|synopsis)\s*:?$/i
const OTHER_USAGE = /^(?:or\s*:\s*|or\s+(?=\S+ [[<-])|usage\s*:\s*)/i
const MOST_LINES = 400

/** The usage that begins at line `at`, or undefined where none does. */
export function usageAt(looks: readonly LineLook[], at: number): UsageBlock | undefined {
  const { text, indent } = looks[at]!
  const trimmed = text.trim()
  const inline = INLINE.exec(trimmed)
  if (inline) return readInline(looks, at, trimmed.slice(inline[0].length), indent)
  if (ALONE.test(trimmed)) return readBelow(looks, at, indent)
  return undefined
}

/** A first line that says what can be written, without the word usage: `pandoc [OPTIONS] [FILES]`. */
export function looksLikeUsage(text: string): boolean {
  return (
    /^ {0,4}[\w./-]+(?: [\w-]+)? [[<](?:-|options?\]|OPTIONS?\]|flags\]|FLAGS\]|command[\]>])/.test(
      text.slice(0, 120),
    ) ||
    /^ {0,4}[\w./-]+ \[?(?:options|OPTIONS|OPTION)\]?(?:\.\.\.)? [[<A-Z]/.test(text.slice(0, 120))
  )
}

/** `usage: prog ...`, its continuation lines, and the lines that begin with `or:`. */
function readInline(
  looks: readonly LineLook[],
  at: number,
  first: string,
  indent: number,
): UsageBlock {
  const lines = [first]
  let next = at + 1
  for (; next < looks.length && next - at < MOST_LINES; next++) {
    const look = looks[next]!
    if (look.indent < 0) {
      if (!/^or\s*:/i.test(looks[next + 1]?.text.trim() ?? '')) break
      continue
    }
    const other = OTHER_USAGE.exec(look.text.trim())
    if (other) lines.push(look.text.trim().slice(other[0].length))
    else if (
      look.indent > indent &&
      !isDescribed(look) &&
      !/^[\w ]+:$/.test(look.text.trim()) &&
      (goesOn(look, first) || look.indent >= indent + 7)
    )
      lines.push(startsAnew(look.text, first) ? look.text.trim() : ` ${look.text.trim()}`)
    else break
  }
  return { lines: joinWrapped(lines), next }
}

/** `Usage:` on a line of its own: what is indented under it, or the paragraph that follows. */
function readBelow(looks: readonly LineLook[], at: number, indent: number): UsageBlock | undefined {
  let next = at + 1
  while (next < looks.length && looks[next]!.indent < 0 && next - at < 3) next++
  const first = looks[next]
  if (first === undefined || first.indent < indent || isDescribed(first)) return undefined
  const lines: string[] = []
  let paragraph = false
  for (; next < looks.length && next - at < MOST_LINES; next++) {
    const look = looks[next]!
    if (look.indent < 0) {
      if (first.indent === indent) break
      paragraph = true
      continue
    }
    if (look.indent < first.indent || isDescribed(look)) break
    if (paragraph && (look.indent !== first.indent || !startsAnew(look.text, first.text.trim())))
      break
    const text = look.text.trim().replace(/^\$ /, '').replace(OTHER_USAGE, '')
    if (/^[\p{L} ]+:$/u.test(text)) break
    const anew =
      look.indent === first.indent &&
      (/^\$ /.test(look.text.trim()) ||
        startsAnew(text, first.text.trim().replace(/^\$ /, '')) ||
        lines.length === 0)
    lines.push(anew ? text : ` ${text}`)
  }
  return { lines: joinWrapped(lines), next }
}

/** What a usage goes on with: brackets, flags, placeholders in capitals, the program again; not a sentence. */
function goesOn(look: LineLook, first: string): boolean {
  return (
    look.flagAt >= 0 ||
    /^\s*(?:[[(<{|.]|[A-Z][A-Z0-9_]+(?:[\s.[\]|=]|$))/.test(look.text) ||
    startsAnew(look.text, first)
  )
}

/** Begins with the same program again. */
function startsAnew(text: string, first: string): boolean {
  const program = first.split(' ', 1)[0]!
  return text.trim().split(' ', 1)[0] === program && !program.startsWith('[')
}

/** A flag with its description: the usage is over. */
function isDescribed(look: LineLook): boolean {
  if (
    look.flagAt >= 0 &&
    look.narrow &&
    / [a-z]{2,} [a-z]{2,} /.test(look.text.slice(look.flagAt, look.flagAt + 120))
  )
    return true
  return look.described && /[a-z]{2}/.test(look.text)
}

/** npm says behind each usage what it is for. */
function withoutComment(line: string): string {
  const gap = line.search(/ {2,}[a-z][a-z']* [a-z]/)
  return gap < 0 ? line : line.slice(0, gap)
}

function joinWrapped(lines: readonly string[]): string[] {
  const joined: string[][] = []
  for (const line of lines) {
    if (line.startsWith(' ') && joined.length > 0) joined[joined.length - 1]!.push(line.trim())
    else joined.push([line.trim()])
  }
  return joined.map((parts) => withoutComment(parts.join(' '))).filter((line) => line !== '')
}
