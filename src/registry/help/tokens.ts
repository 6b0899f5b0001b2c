/**
 * The smallest parts of a help text: flags, attached values, placeholders.
 */

/** A dashed name as it is written in a help text. */
export type FlagToken = {
  readonly names: readonly string[]
  /** From `--[no-]x`: the names that take it back. */
  readonly negative: readonly string[]
  readonly at: number
  readonly end: number
}

// `-DNAME` is -D with a value and `-NUM` is any number, while `-name` is a flag.
const ATTACHED_VALUE_NAME =
  /^(?:NAME|NUM|NUMBER|FILE|FILENAME|DIR|DIRECTORY|PATH|KEY|VALUE|LEVEL|SIZE|COUNT|PATTERN|STRING|TEXT|ARG|MACRO|TYPE|USER|HOST|PORT|WORD|CHAR|LIST|MODE|FORMAT|PREFIX|SUFFIX|SECS|SECONDS)(?![\w-])/
const ATTACHED_VALUE_WORD =
  /^(?:dir|directory|path|file|level|name|num|number|string|size|type|arg)(?![\w-])/
const NUMBER_FLAG = /^-(?:NUM|NUMBER|num|number|nnn|NNN)$/
const LONG_NAME = /[\p{L}\d?][\p{L}\d_.+@-]*/uy
const SHORT_WORD = /[\p{L}\d][\p{L}\d_+-]*(?::[a-z](?![\p{L}\d:]))?/uy
const NEGATABLE = /[[({](no-?|dont-|un|dis|disable-|without-)[\])}]/y

/** Reads the flag that begins at a dash, or gives undefined where it is only a dash. */
export function readFlag(text: string, at: number): FlagToken | undefined {
  if (text[at] !== '-') return undefined
  return text[at + 1] === '-' ? readLongFlag(text, at) : readShortFlag(text, at)
}

function readLongFlag(text: string, at: number): FlagToken | undefined {
  const negation = matchAt(NEGATABLE, text, at + 2)
  const start = at + 2 + (negation?.[0].length ?? 0)
  const name = matchAt(LONG_NAME, text, start)
  if (!name) return undefined
  const written = trimFlagName(name[0])
  const names = [`--${written}`]
  const end = start + written.length
  if (negation) return { names, negative: [`--${negation[1]}${written}`], at, end }
  return readOptionalSuffix(text, end, at, names[0]!) ?? { names, negative: [], at, end }
}

/**
 * The optional part of a name: `--force[-with-lease]`, `--verb[ose]`. A value is told apart by what
 * it begins with.
 */
function readOptionalSuffix(
  text: string,
  end: number,
  at: number,
  name: string,
): FlagToken | undefined {
  const tail = matchAt(/\[(-?[a-z][a-z-]*)\](?![.\w])/y, text, end)
  if (!tail || text[end - 1] === '-') return undefined
  const names = tail[1]!.startsWith('-') ? [name, `${name}${tail[1]!}`] : [`${name}${tail[1]!}`]
  return { names, negative: [], at, end: end + tail[0].length }
}

function readShortFlag(text: string, at: number): FlagToken | undefined {
  const first = text[at + 1]
  if (first === undefined || first === ' ') return undefined
  if (!/[\p{L}\d]/u.test(first)) return readSymbolFlag(text, at, first)
  const word = matchAt(SHORT_WORD, text, at + 1)
  if (!word) return undefined
  const name = trimFlagName(word[0])
  if (name.endsWith('-') && text[at + 1 + name.length] !== '<') return undefined
  if (NUMBER_FLAG.test(`-${name}`)) return undefined
  if (
    name.length > 3 &&
    (ATTACHED_VALUE_NAME.test(name.slice(1)) ||
      (/[A-Z]/.test(first) && ATTACHED_VALUE_WORD.test(name.slice(1))))
  )
    return { names: [`-${first}`], negative: [], at, end: at + 2 }
  return { names: [`-${name}`], negative: [], at, end: at + 1 + name.length }
}

/** `-?`, `-#`, `-@` are flags only where they stand alone. */
function readSymbolFlag(text: string, at: number, symbol: string): FlagToken | undefined {
  if (text.startsWith('###', at + 1)) return { names: ['-###'], negative: [], at, end: at + 4 }
  if (!'?#@%!$:+.=~^*&/_"'.includes(symbol)) return undefined
  const after = text[at + 2]
  return after === undefined || ' ,|/[]:='.includes(after)
    ? { names: [`-${symbol}`], negative: [], at, end: at + 2 }
    : undefined
}

/**
 * A dot or dash at the end belongs to the sentence, unless a placeholder follows (`--gdwarf-<N>`).
 */
function trimFlagName(name: string): string {
  let end = name.length
  while (end > 1 && '.+'.includes(name[end - 1]!) && !/^[+\w]*\+\+$/.test(name)) end--
  return name.slice(0, end)
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

/** How a help text writes the value of a flag. */
export type ValueToken = {
  readonly text: string
  readonly optional: boolean
  readonly end: number
  readonly joint?: ValueSeparator
}

/** How a value stands to its flag: `--x=v`, `--x v`, `-xv`. */
export type ValueSeparator = 'equals' | 'space' | 'stuck'

const CLOSING_BRACKETS: { readonly [opener: string]: string } = {
  '[': ']',
  '<': '>',
  '{': '}',
  '(': ')',
}

/** The position after the bracket that closes the one at `at`, or undefined where it stays open. */
export function findClosingBracket(text: string, at: number): number | undefined {
  const open: string[] = []
  for (let position = at; position < text.length; position++) {
    const character = text[position]!
    const closer = CLOSING_BRACKETS[character]
    // Inside <...> an angle bracket alone nests; `a->b` and `x<=5` do not.
    if (closer !== undefined && !(character === '<' && ' ='.includes(text[position + 1] ?? ' ')))
      open.push(closer)
    else if (character === open[open.length - 1]) open.pop()
    if (open.length === 0) return position + 1
    if (open.length > 16) return undefined
  }
  return undefined
}

/**
 * The value that is written onto a flag without a blank: `=X`, `[=X]`, `[X]`, `<x>`, `{x}`, `:x`,
 * `,<x>`.
 */
export function readAttachedValue(text: string, at: number): ValueToken | undefined {
  const character = text[at]
  if (character === undefined) return undefined
  if (character === '[') return readOptionalValue(text, at)
  if (character === '<' || character === '{')
    return { ...readUntilBlank(text, at, at), joint: 'stuck' }
  if (character === '=') return { ...readUntilBlank(text, at + 1, at + 1), joint: 'equals' }
  const next = text[at + 1] ?? ' '
  const isStuck =
    (character === ':' && /[^\s:,]/.test(next)) || (character === ',' && /[<[{]/.test(next))
  return isStuck ? { ...readUntilBlank(text, at + 1, at + 1), joint: 'stuck' } : undefined
}

function readOptionalValue(text: string, at: number): ValueToken | undefined {
  const end = findClosingBracket(text, at)
  if (end === undefined || end === at + 2) return undefined
  // `--foo[=]BAR` and `--exec=[-]cmd` go on behind the bracket, and the value is then required.
  const inner = text.slice(at + 1, end - 1).trim()
  if (inner === '=' || inner === ' ') return readUntilBlank(text, end, end)
  const goesOn = text[end] !== undefined && !' ,|/].:)'.includes(text[end])
  if (goesOn && !text.startsWith('...', end)) {
    const whole = readUntilBlank(text, at, at)
    return whole && { ...whole, optional: text[end] === '[' }
  }
  return {
    text: inner.replace(/^[=:,]/, ''),
    optional: true,
    end: text.startsWith('...', end) ? end + 3 : end,
  }
}

/** Up to the next blank outside brackets and quotes; a comma at the end separates names. */
function readUntilBlank(text: string, from: number, start: number): ValueToken {
  let position = from
  while (position < text.length) {
    const character = text[position]!
    if (character === ' ') break
    if (']})'.includes(character)) break
    if (character === '|' && text[position + 1] === '-') break
    if (
      character === ',' &&
      (text[position + 1] === ' ' || text[position + 1] === '-' || position + 1 === text.length)
    )
      break
    if (character === '/' && text.startsWith('--', position + 1)) break
    if ((character === '"' || character === "'") && text.indexOf(character, position + 1) > 0)
      position = text.indexOf(character, position + 1) + 1
    else if (CLOSING_BRACKETS[character] !== undefined)
      position = findClosingBracket(text, position) ?? position + 1
    else position++
  }
  const written = text.slice(start, position).replace(/[:;]$|(?<=[\]>}])\.$/, '')
  return { text: written, optional: false, end: start + written.length }
}

/**
 * What comes after a text: wide space and a description, a next line that describes, another flag,
 * a sign like `:`, or nothing.
 */
export type SegmentFollower = 'gap' | 'below' | 'flag' | 'sign' | 'end'

// Words of sentences. A value that is called by more than one word has none of them.
const SENTENCE_WORDS = new Set(
  "the to of for in on and with this that be as at by from if it is are not only use do when instead all print show set display enable disable list read write run make don't no your an will can must should into also same like than then each every any select ignore suppress force avoid don't dont".split(
    ' ',
  ),
)
const SENTENCE_STARTS = new Set(
  'is are was has have can cannot may will must should does and or to with in of for when if implies means the flag option options'.split(
    ' ',
  ),
)
/** Names of values that mean nothing else. */
const VALUE_NAMES = new Set(
  'file files filename dir directory path paths name n num number count size string str text int integer float level seconds secs sec time date url uri host port user pattern regex regexp key value val id format type cmd command arg args expr expression list mode width lines bytes range prefix suffix word'.split(
    ' ',
  ),
)
const CAPITALS_PLACEHOLDER =
  /^[+@%-]?(?:[A-Z][A-Z0-9_]*|[0-9]+)(?:[-.:/|,=+*%@#&_0-9A-Z[\]<>(){}]|\.\.\.)*$/

/** The words of a text; what stands in brackets or quotes is one word. */
export function splitWords(text: string): string[] {
  const words: string[] = []
  let start = 0
  for (let position = 0; position <= text.length; position++) {
    const character = text[position]
    if (character === undefined || character === ' ') {
      if (position > start) words.push(text.slice(start, position))
      start = position + 1
    } else if ('[<{('.includes(character))
      position = (findClosingBracket(text, position) ?? position + 1) - 1
  }
  return words
}

/**
 * A word that can only stand for a value: in brackets, in capitals, or with a sign that no sentence
 * has.
 */
export function isPlaceholder(word: string): boolean {
  return (
    /^[<{]./.test(word) ||
    /^\[[^\]\s]/.test(word) ||
    CAPITALS_PLACEHOLDER.test(word) ||
    ['...', ';', '{}', '+'].includes(word) ||
    /^[A-Z]+\[[^\]\s]*\]$/.test(word) ||
    /^["'][^"']*["']$/.test(word) ||
    /^\.\.\.\]?$/.test(word)
  )
}

/** Whether the text between a flag and what follows it names the value of the flag. */
export function isValueText(text: string, follower: SegmentFollower, narrow: boolean): boolean {
  const words = splitWords(text)
  if (words.length === 0 || words.length > 12) return false
  if (isNotice(words[0]!) || (words[0]!.startsWith('(') && !words[0]!.includes('|'))) return false
  if (words.every((word) => isPlaceholder(word)))
    return follower !== 'end' || !narrow || words.length <= 2
  if (words.length > 4 || (/[.;!]$/.test(text) && !text.endsWith('...'))) return false
  if (words.some((word) => SENTENCE_WORDS.has(word.toLowerCase())))
    return words.length === 1 && follower !== 'end' && !SENTENCE_STARTS.has(words[0]!)
  if (/^[A-Z][a-z]+$/.test(words[0]!) && words.length > 1) return false
  if (follower !== 'end') return words.length <= 3
  return !narrow && words.length <= 2 && !/^[A-Z][a-z]/.test(words[0]!)
}

/**
 * How many characters at the beginning are a value although a sentence follows after one blank: `-x
 * <file> read it`, `-x FILE the FILE`.
 */
export function measureLeadingValue(text: string): number {
  const [first, second = ''] = splitWords(text)
  if (first === undefined || isNotice(first)) return 0
  if (/^<.+>/.test(first) || /^\{.+[,|].+\}/.test(first)) return first.length
  if (CAPITALS_PLACEHOLDER.test(first) && first.includes('|')) return first.length
  if (!CAPITALS_PLACEHOLDER.test(first) || !/^[a-z(]/.test(second)) return 0
  const bare = first.replace(/[^A-Z]/g, '')
  const again = text.indexOf(first, first.length)
  return VALUE_NAMES.has(bare.toLowerCase()) || (again > 0 && bare.length > 1) ? first.length : 0
}

/** True where a sentence goes on behind a flag: `--foo is used`. */
export function startsSentence(text: string): boolean {
  const [first] = splitWords(text.slice(0, 80))
  return first !== undefined && SENTENCE_STARTS.has(first.replace(/[.,;:]$/, '').toLowerCase())
}

/** Alternatives that are named, not placeholders: `a|b|c`, `{a,b}`. */
export function listAlternatives(text: string): string[] {
  const bracketed = /^[[{(<]/.test(text)
  const inner = bracketed && findClosingBracket(text, 0) === text.length ? text.slice(1, -1) : text
  const bare = /^[({<]/.test(inner) ? inner.slice(1, -1) : inner
  const braces = text.includes('{')
  if (!bare.includes('|') && !braces) return []
  const separator = bare.includes('|') ? '|' : ','
  const parts = bare.split(separator).map((part) => part.trim().replace(/^(["'])(.*)\1$/, '$2'))
  if (
    parts.length < 2 ||
    parts.length > 500 ||
    parts.some((part) => !/^[^\s<>[\](){}|]{1,60}$/.test(part) || part === '...')
  )
    return []
  if (!braces && parts.some((part) => VALUE_NAMES.has(part.toLowerCase()))) return []
  const capitals = parts.every((part) => /^[A-Z_0-9-]+$/.test(part) && /[A-Z]/.test(part))
  return capitals && !/^[[{]/.test(text) ? [] : [...new Set(parts)]
}

/** `[default: x]` and its like are about a flag, not its value. */
export function isNotice(word: string): boolean {
  return /^[[(](?:default|required|optional|deprecated|experimental|possible|choices|env|aliases?|alias|boolean|string|number|array|count|repeatable|global|hidden|advanced|string\]|\+\])/i.test(
    word,
  )
}
