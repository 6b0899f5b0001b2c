import { closeOf } from './value.ts'

/** What comes after a text: wide space and a description, a next line that describes, another flag, a sign like `:`, or nothing. */
export type Follower = 'gap' | 'below' | 'flag' | 'sign' | 'end'

// Words of sentences. A value that is called by more than one word has none of them.
const SENTENCE = new Set(
  "the to of for in on and with this that be as at by from if it is are not only use do when instead all print show set display enable disable list read write run make don't no your an will can must should into also same like than then each every any select ignore suppress force avoid don't dont".split(
    ' ',
  ),
)
const VERBS = new Set(
  'is are was has have can cannot may will must should does and or to with in of for when if implies means the flag option options'.split(
    ' ',
  ),
)
/** Names of values that mean nothing else. */
const COMMON = new Set(
  'file files filename dir directory path paths name n num number count size string str text int integer float level seconds secs sec time date url uri host port user pattern regex regexp key value val id format type cmd command arg args expr expression list mode width lines bytes range prefix suffix word'.split(
    ' ',
  ),
)
const UPPER = /^[+@%-]?(?:[A-Z][A-Z0-9_]*|[0-9]+)(?:[-.:/|,=+*%@#&_0-9A-Z[\]<>(){}]|\.\.\.)*$/

/** The words of a text; what stands in brackets or quotes is one word. */
export function wordsOf(text: string): string[] {
  const words: string[] = []
  let start = 0
  for (let position = 0; position <= text.length; position++) {
    const character = text[position]
    if (character === undefined || character === ' ') {
      if (position > start) words.push(text.slice(start, position))
      start = position + 1
    } else if ('[<{('.includes(character)) position = (closeOf(text, position) ?? position + 1) - 1
  }
  return words
}

/** A word that can only stand for a value: in brackets, in capitals, or with a sign that no sentence has. */
export function isMark(word: string): boolean {
  return (
    /^[<{]./.test(word) ||
    /^\[[^\]\s]/.test(word) ||
    UPPER.test(word) ||
    word === '...' ||
    word === ';' ||
    word === '{}' ||
    word === '+' ||
    /^[A-Z]+\[[^\]\s]*\]$/.test(word) ||
    /^["'][^"']*["']$/.test(word) ||
    /^\.\.\.\]?$/.test(word)
  )
}

/** Whether the text between a flag and what follows it names the value of the flag. */
export function isValueText(text: string, follower: Follower, narrow: boolean): boolean {
  const words = wordsOf(text)
  if (words.length === 0 || words.length > 12) return false
  if (isNotice(words[0]!) || (words[0]!.startsWith('(') && !words[0]!.includes('|'))) return false
  if (words.every((word) => isMark(word))) return follower !== 'end' || !narrow || words.length <= 2
  if (words.length > 4 || (/[.;!]$/.test(text) && !text.endsWith('...'))) return false
  if (words.some((word) => SENTENCE.has(word.toLowerCase())))
    return words.length === 1 && follower !== 'end' && !VERBS.has(words[0]!)
  if (/^[A-Z][a-z]+$/.test(words[0]!) && words.length > 1) return false
  if (follower !== 'end') return words.length <= 3
  return !narrow && words.length <= 2 && !/^[A-Z][a-z]/.test(words[0]!)
}

/** How many characters at the beginning are a value although a sentence follows after one blank: `-x <file> read it`, `-x FILE the FILE`. */
export function leadingValue(text: string): number {
  const [first, second = ''] = wordsOf(text)
  if (first === undefined || isNotice(first)) return 0
  if (/^<.+>/.test(first) || /^\{.+[,|].+\}/.test(first)) return first.length
  if (UPPER.test(first) && first.includes('|')) return first.length
  if (!UPPER.test(first) || !/^[a-z(]/.test(second)) return 0
  const bare = first.replace(/[^A-Z]/g, '')
  const again = text.indexOf(first, first.length)
  return COMMON.has(bare.toLowerCase()) || (again > 0 && bare.length > 1) ? first.length : 0
}

/** True where a sentence goes on behind a flag: `--foo is used`. */
export function isSentence(text: string): boolean {
  const [first] = wordsOf(text.slice(0, 80))
  return first !== undefined && VERBS.has(first.replace(/[.,;:]$/, '').toLowerCase())
}

/** Alternatives that are named, not placeholders: `a|b|c`, `{a,b}`. */
export function alternativesIn(text: string): string[] {
  const bracketed = /^[[{(<]/.test(text)
  const inner = bracketed && closeOf(text, 0) === text.length ? text.slice(1, -1) : text
  const bare =
    inner.startsWith('(') || inner.startsWith('{') || inner.startsWith('<')
      ? inner.slice(1, -1)
      : inner
  const braces = text.includes('{')
  const separator = bare.includes('|') ? '|' : braces ? ',' : undefined
  if (separator === undefined) return []
  const parts = bare.split(separator).map((part) => part.trim().replace(/^(["'])(.*)\1$/, '$2'))
  if (
    parts.length < 2 ||
    parts.length > 500 ||
    parts.some((part) => !/^[^\s<>[\](){}|]{1,60}$/.test(part) || part === '...')
  )
    return []
  if (!braces && parts.some((part) => COMMON.has(part.toLowerCase()))) return []
  const capitals = parts.every((part) => /^[A-Z_0-9-]+$/.test(part) && /[A-Z]/.test(part))
  return capitals && !/^[[{]/.test(text) ? [] : [...new Set(parts)]
}

/** `[default: x]` and its like are about a flag, not its value. */
export function isNotice(word: string): boolean {
  return /^[[(](?:default|required|optional|deprecated|experimental|possible|choices|env|aliases?|alias|boolean|string|number|array|count|repeatable|global|hidden|advanced|string\]|\+\])/i.test(
    word,
  )
}
