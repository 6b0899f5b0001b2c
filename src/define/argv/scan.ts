import { closest } from '../../contract/did-you-mean.ts'
import { lateExpression } from '../../contract/late-expression.ts'
import { shorten } from '../../contract/shorten.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { FlagTable, KnownFlag } from './flag-table.ts'

/** One flag that was given. */
export type GivenFlag = {
  readonly flag: KnownFlag
  /** As the user wrote it, for messages. */
  readonly written: string
  readonly values: readonly string[]
  readonly negated: boolean
  /** The keys behind the name in `--object.key`. */
  readonly keys: readonly string[]
}

/** A word that is not a flag; `literal` when it stood behind `--`. */
export type Word = { readonly text: string; readonly literal: boolean }

export type Scanned = {
  readonly flags: readonly GivenFlag[]
  readonly words: readonly Word[]
  /** Where scanning stopped. */
  readonly end: number
  /** The first thing that could not be read; scanning goes on behind it, so that output flags are still seen. */
  readonly problem: ToolError | undefined
}

export type ScanOptions = {
  /** Stop at the first word that is not a flag. */
  readonly stopAtWord?: boolean
  /** Stop at the first flag that the table does not know, instead of refusing it. */
  readonly stopAtUnknown?: boolean
  /** Stop behind the flag of this name: all that follows belongs to it. */
  readonly stopBehind?: string
  /** Extra words for the message about an unknown flag. */
  readonly explainUnknown?: (name: string) => string | undefined
  /** A boolean flag followed by `true` or `false` takes it as its value. */
  readonly booleanValues?: boolean
}

/** Splits arguments into flags and words. A flag that takes a value takes the next argument whatever it looks like. */
export function scan(
  tokens: readonly string[],
  table: FlagTable,
  options: ScanOptions = {},
): Scanned {
  const flags: GivenFlag[] = []
  const words: Word[] = []
  let problem: ToolError | undefined
  const refuse = (error: ToolError): void => void (problem ??= error)

  let index = 0
  while (index < tokens.length) {
    const token = tokens[index]!
    if (token === '--') {
      if (options.stopAtWord) break
      words.push(...tokens.slice(index + 1).map((text) => ({ text, literal: true })))
      index = tokens.length
      break
    }
    if (!looksLikeFlag(token, table)) {
      if (options.stopAtWord) break
      words.push({ text: token, literal: false })
      index++
      continue
    }
    const read = token.startsWith('--')
      ? readLong(token, tokens, index, table, options)
      : readShort(token, tokens, index, table)
    if (read === 'unknown') {
      if (options.stopAtUnknown) break
      refuse(unknownFlag(token, table, options))
      index++
      continue
    }
    if (read instanceof ToolError) {
      refuse(read)
      index++
      continue
    }
    flags.push(...read.flags)
    index = read.next
    if (
      options.stopBehind !== undefined &&
      read.flags.some(({ flag }) => flag.long === options.stopBehind)
    )
      break
  }
  return { flags, words, end: index, problem }
}

const LETTER_FIRST = lateExpression('^[\\p{L}\\p{N}]')

type Read = { readonly flags: readonly GivenFlag[]; readonly next: number } | 'unknown' | ToolError

function readLong(
  token: string,
  tokens: readonly string[],
  index: number,
  table: FlagTable,
  { booleanValues }: ScanOptions,
): Read {
  const equals = token.indexOf('=')
  const written = equals < 0 ? token : token.slice(0, equals)
  const inline = equals < 0 ? undefined : token.slice(equals + 1)
  const name = written.slice(2)
  if (!/^[a-z0-9]/i.test(name) && !LETTER_FIRST().test(name)) return malformed(token)
  const found = findLong(name, table)
  if (!found) return 'unknown'
  const { flag, keys, negated } = found
  const given = (values: readonly string[], next: number): Read => ({
    flags: [{ flag, written, values, negated, keys }],
    next,
  })
  if (flag.takes === 0) {
    if (negated && inline !== undefined) return usage(`${written} takes no value`)
    if (inline !== undefined) return given([inline], index + 1)
    const following = tokens[index + 1]
    if (
      booleanValues &&
      flag.negatable &&
      !negated &&
      (following === 'true' || following === 'false')
    )
      return given([following], index + 2)
    return given([], index + 1)
  }
  const values =
    inline === undefined
      ? tokens.slice(index + 1, index + 1 + flag.takes)
      : [inline, ...tokens.slice(index + 1, index + flag.takes)]
  if (values.length < flag.takes) return missingValue(written, flag)
  return given(values, index + 1 + flag.takes - (inline === undefined ? 0 : 1))
}

function readShort(
  token: string,
  tokens: readonly string[],
  index: number,
  table: FlagTable,
): Read {
  const flags: GivenFlag[] = []
  for (let position = 1; position < token.length; position++) {
    const flag = table.short(token[position]!)
    if (!flag)
      return position === 1 ? 'unknown' : usage(`unknown flag -${token[position]} in ${token}`)
    const written = `-${token[position]}`
    if (flag.takes === 0) {
      flags.push({ flag, written, values: [], negated: false, keys: [] })
      continue
    }
    const rest = token.slice(position + 1).replace(/^=/, '')
    const values = rest === '' ? tokens.slice(index + 1, index + 1 + flag.takes) : [rest]
    if (values.length < flag.takes) return missingValue(written, flag)
    flags.push({ flag, written, values, negated: false, keys: [] })
    return { flags, next: index + 1 + (rest === '' ? flag.takes : 0) }
  }
  return { flags, next: index + 1 }
}

function findLong(
  name: string,
  table: FlagTable,
):
  | { readonly flag: KnownFlag; readonly keys: readonly string[]; readonly negated: boolean }
  | undefined {
  const exact = table.long(name)
  if (exact) return { flag: exact, keys: [], negated: false }
  const positive =
    name.startsWith('no-') || name.startsWith('no_') ? table.long(name.slice(3)) : undefined
  if (positive?.negatable) return { flag: positive, keys: [], negated: true }
  const [head, ...keys] = name.split('.')
  const parent = keys.length > 0 && keys.every((key) => key !== '') ? table.long(head!) : undefined
  return parent?.dotted ? { flag: parent, keys, negated: false } : undefined
}

// `-` is stdin, and -5 is a number unless somebody has a flag of that name.
function looksLikeFlag(token: string, table: FlagTable): boolean {
  if (!token.startsWith('-') || token === '-') return false
  return token.startsWith('--') || !/^-[\d.]/.test(token) || table.short(token[1]!) !== undefined
}

function unknownFlag(token: string, table: FlagTable, { explainUnknown }: ScanOptions): ToolError {
  const written = token.split('=')[0]!
  const shown = shorten(written, 60)
  const extra = explainUnknown?.(written)
  const meant = extra === undefined ? closest(written, table.names) : undefined
  return usage(
    `unknown flag ${shown}${extra ? `: ${extra}` : ''}${meant ? `; did you mean ${meant}?` : ''}`,
    meant
      ? `Use ${meant}`
      : 'See --help for the flags; write -- before a value that begins with a dash',
  )
}

function missingValue(written: string, flag: KnownFlag): ToolError {
  return usage(`${written} needs a value: ${written} <${flag.what.replace(' ', '> <')}>`)
}

function malformed(token: string): ToolError {
  return usage(`'${token.slice(0, 60)}' cannot be read as a flag`, undefined, { unreadable: true })
}

function usage(
  message: string,
  fix?: string,
  details?: { readonly [key: string]: unknown },
): ToolError {
  return new ToolError('USAGE', message, {
    ...(fix !== undefined && { suggestion: fix }),
    ...(details && { details }),
  })
}
