/** A dashed name as it is written in a help text. */
export type Flag = {
  readonly names: readonly string[]
  /** From `--[no-]x`: the names that take it back. */
  readonly negative: readonly string[]
  readonly at: number
  readonly end: number
}

// `-DNAME` is -D with a value and `-NUM` is any number, while `-name` is a flag.
const STUCK_VALUE =
  /^(?:NAME|NUM|NUMBER|FILE|FILENAME|DIR|DIRECTORY|PATH|KEY|VALUE|LEVEL|SIZE|COUNT|PATTERN|STRING|TEXT|ARG|MACRO|TYPE|USER|HOST|PORT|WORD|CHAR|LIST|MODE|FORMAT|PREFIX|SUFFIX|SECS|SECONDS)(?![\w-])/
const STUCK_WORD =
  /^(?:dir|directory|path|file|level|name|num|number|string|size|type|arg)(?![\w-])/
const NUMBER_SHAPES = /^-(?:NUM|NUMBER|num|number|nnn|NNN)$/
const LONG_NAME = /[\p{L}\d?][\p{L}\d_.+@-]*/uy
const SHORT_WORD = /[\p{L}\d][\p{L}\d_+-]*(?::[a-z](?![\p{L}\d:]))?/uy
const NEGATABLE = /[[({](no-?|dont-|un|dis|disable-|without-)[\])}]/y

/** Reads the flag that begins at a dash, or gives undefined where it is only a dash. */
export function readFlag(text: string, at: number): Flag | undefined {
  if (text[at] !== '-') return undefined
  return text[at + 1] === '-' ? readDouble(text, at) : readSingle(text, at)
}

function readDouble(text: string, at: number): Flag | undefined {
  const negation = match(NEGATABLE, text, at + 2)
  if (negation) {
    const name = match(LONG_NAME, text, at + 2 + negation[0].length)
    if (!name) return undefined
    return {
      names: [`--${trimName(name[0])}`],
      negative: [`--${negation[1]}${trimName(name[0])}`],
      at,
      end: at + 2 + negation[0].length + trimName(name[0]).length,
    }
  }
  const name = match(LONG_NAME, text, at + 2)
  if (!name) return undefined
  const written = trimName(name[0])
  const end = at + 2 + written.length
  return (
    readTail(text, end, at, `--${written}`) ?? { names: [`--${written}`], negative: [], at, end }
  )
}

/** The optional part of a name: `--force[-with-lease]`, `--verb[ose]`. A value is told apart by what it begins with. */
function readTail(text: string, end: number, at: number, name: string): Flag | undefined {
  const tail = match(/\[(-?[a-z][a-z-]*)\](?![.\w])/y, text, end)
  if (!tail || text[end - 1] === '-') return undefined
  const names = tail[1]!.startsWith('-') ? [name, `${name}${tail[1]!}`] : [`${name}${tail[1]!}`]
  return { names, negative: [], at, end: end + tail[0].length }
}

function readSingle(text: string, at: number): Flag | undefined {
  const first = text[at + 1]
  if (first === undefined || first === ' ') return undefined
  if (!/[\p{L}\d]/u.test(first)) return readSymbol(text, at, first)
  const word = match(SHORT_WORD, text, at + 1)
  if (!word) return undefined
  const name = trimName(word[0])
  if (name.endsWith('-') && text[at + 1 + name.length] !== '<') return undefined
  if (NUMBER_SHAPES.test(`-${name}`)) return undefined
  if (
    name.length > 3 &&
    (STUCK_VALUE.test(name.slice(1)) || (/[A-Z]/.test(first) && STUCK_WORD.test(name.slice(1))))
  )
    return { names: [`-${first}`], negative: [], at, end: at + 2 }
  return { names: [`-${name}`], negative: [], at, end: at + 1 + name.length }
}

/** `-?`, `-#`, `-@` are flags only where they stand alone. */
function readSymbol(text: string, at: number, symbol: string): Flag | undefined {
  if (text.startsWith('###', at + 1)) return { names: ['-###'], negative: [], at, end: at + 4 }
  if (!'?#@%!$:+.=~^*&/_"'.includes(symbol)) return undefined
  const after = text[at + 2]
  return after === undefined || ' ,|/[]:='.includes(after)
    ? { names: [`-${symbol}`], negative: [], at, end: at + 2 }
    : undefined
}

/** A dot or dash at the end belongs to the sentence, unless a placeholder follows (`--gdwarf-<N>`). */
function trimName(name: string): string {
  let end = name.length
  while (end > 1 && '.+'.includes(name[end - 1]!) && !/^[+\w]*\+\+$/.test(name)) end--
  return name.slice(0, end)
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}
