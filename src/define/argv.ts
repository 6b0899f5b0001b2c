/**
 * Reads an argument list: splits it into flags and words by a table of known flags. No value is
 * interpreted here; `flag-input.ts` does that by the schema of each field.
 */

import type { ToolMetadata } from '../protocol/manifest.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { findClosest, shorten } from '../util/text.ts'
import { compact, lazyRegExp } from '../util/values.ts'
import type { FlagSpec, GlobalFlag, GlobalFlags } from './global-flags.ts'
import { FLAG_BY_RESERVED_FIELD, isSwitch, readGlobalFlag } from './global-flags.ts'

/** One flag that was given. */
export type ParsedFlag = {
  readonly flag: KnownFlag
  /** As the user wrote it, for messages. */
  readonly written: string
  readonly values: readonly string[]
  readonly negated: boolean
  /** The keys behind the name in `--object.key`. */
  readonly keys: readonly string[]
}

/** A word that is not a flag; `literal` when it stood behind `--`. */
export type ArgvWord = { readonly text: string; readonly literal: boolean }

export type ScannedArgv = {
  readonly flags: readonly ParsedFlag[]
  readonly words: readonly ArgvWord[]
  /** Where scanning stopped. */
  readonly end: number
  /**
   * The first thing that could not be read; scanning continues after it, so that output flags are
   * still seen.
   */
  readonly problem: ToolError | undefined
}

type ArgvScanOptions = {
  /** Stop at the first word that is not a flag. */
  readonly stopAtWord?: boolean
  /** Stop at the first flag that the table does not know, instead of refusing it. */
  readonly stopAtUnknown?: boolean
  /** Stop behind the flag of this name: all that follows belongs to it. */
  readonly stopAfter?: string
  /** Treats a flag of the table as unknown. */
  readonly isUnknown?: ((long: string) => boolean) | undefined
  /** Extra words for the message about an unknown flag. */
  readonly explainUnknown?: (name: string) => string | undefined
  /** A boolean flag followed by `true` or `false` takes it as its value. */
  readonly booleanValues?: boolean
}

/**
 * Splits arguments into flags and words. A flag that takes a value takes the next argument, even one
 * that looks like a flag.
 */
export function scanArgv(
  tokens: readonly string[],
  table: FlagTable,
  options: ArgvScanOptions = {},
): ScannedArgv {
  const flags: ParsedFlag[] = []
  const words: ArgvWord[] = []
  let problem: ToolError | undefined
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
      ? readLongFlag(token, tokens, index, table, options)
      : readShortFlags(token, tokens, index, table)
    if (read === 'unknown' && options.stopAtUnknown) break
    if (read === 'unknown' || read instanceof ToolError) {
      problem ??= read === 'unknown' ? createUnknownFlagError(token, table, options) : read
      index++
      continue
    }
    flags.push(...read.flags)
    index = read.next
    if (read.flags.some(({ flag }) => flag.long === options.stopAfter)) break
  }
  return { flags, words, end: index, problem }
}

/** Reads the global flags among `flags` into `globals`; returns the first problem. */
export function readGlobalFlags(
  globals: GlobalFlags,
  flags: readonly ParsedFlag[],
): ToolError | undefined {
  let problem: ToolError | undefined
  for (const { flag, values, written } of flags) {
    try {
      if (flag.globalFlag) readGlobalFlag(globals, flag.globalFlag, values, written)
    } catch (error) {
      if (!ToolError.is(error)) throw error
      problem ??= error
    }
  }
  return problem
}

const STARTS_WITH_LETTER = lazyRegExp('^[\\p{L}\\p{N}]')

type FlagReadResult =
  { readonly flags: readonly ParsedFlag[]; readonly next: number } | 'unknown' | ToolError

function readLongFlag(
  token: string,
  tokens: readonly string[],
  index: number,
  table: FlagTable,
  { booleanValues, isUnknown }: ArgvScanOptions,
): FlagReadResult {
  const equals = token.indexOf('=')
  const written = equals < 0 ? token : token.slice(0, equals)
  const inline = equals < 0 ? undefined : token.slice(equals + 1)
  const name = written.slice(2)
  if (!/^[a-z0-9]/i.test(name) && !STARTS_WITH_LETTER().test(name))
    return createMalformedFlagError(token)
  const found = findLongFlag(name, table)
  if (!found || isUnknown?.(found.flag.long)) return 'unknown'
  const { flag, keys, negated } = found
  const given = (values: readonly string[], next: number): FlagReadResult => ({
    flags: [{ flag, written, values, negated, keys }],
    next,
  })
  if (flag.valueCount === 0) {
    if (negated && inline !== undefined) return createUsageError(`${written} takes no value`)
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
      ? tokens.slice(index + 1, index + 1 + flag.valueCount)
      : [inline, ...tokens.slice(index + 1, index + flag.valueCount)]
  if (values.length < flag.valueCount) return createMissingValueError(written, flag)
  return given(values, index + 1 + flag.valueCount - (inline === undefined ? 0 : 1))
}

function readShortFlags(
  token: string,
  tokens: readonly string[],
  index: number,
  table: FlagTable,
): FlagReadResult {
  const flags: ParsedFlag[] = []
  for (let position = 1; position < token.length; position++) {
    const flag = table.short(token[position]!)
    if (!flag)
      return position === 1
        ? 'unknown'
        : createUsageError(`unknown flag -${token[position]} in ${token}`)
    const written = `-${token[position]}`
    if (flag.valueCount === 0) {
      flags.push({ flag, written, values: [], negated: false, keys: [] })
      continue
    }
    const rest = token.slice(position + 1).replace(/^=/, '')
    const values = rest === '' ? tokens.slice(index + 1, index + 1 + flag.valueCount) : [rest]
    if (values.length < flag.valueCount) return createMissingValueError(written, flag)
    flags.push({ flag, written, values, negated: false, keys: [] })
    return { flags, next: index + 1 + (rest === '' ? flag.valueCount : 0) }
  }
  return { flags, next: index + 1 }
}

function findLongFlag(
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

// `-` is stdin, and -5 is a number unless there is a flag of that name.
function looksLikeFlag(token: string, table: FlagTable): boolean {
  if (!token.startsWith('-') || token === '-') return false
  return token.startsWith('--') || !/^-[\d.]/.test(token) || table.short(token[1]!) !== undefined
}

function createUnknownFlagError(
  token: string,
  table: FlagTable,
  { explainUnknown }: ArgvScanOptions,
): ToolError {
  const written = token.split('=')[0]!
  const shown = shorten(written, 60)
  const extra = explainUnknown?.(written)
  const meant = extra === undefined ? findClosest(written, table.names) : undefined
  return createUsageError(
    `unknown flag ${shown}${extra ? `: ${extra}` : ''}${meant ? `; did you mean ${meant}?` : ''}`,
    meant
      ? `Use ${meant}`
      : 'See --help for the flags; write -- before a value that begins with a dash',
  )
}

function createMissingValueError(written: string, flag: KnownFlag): ToolError {
  return createUsageError(
    `${written} needs a value: ${written} <${flag.valueName.replace(' ', '> <')}>`,
  )
}

function createMalformedFlagError(token: string): ToolError {
  return createUsageError(`'${token.slice(0, 60)}' cannot be read as a flag`, undefined, {
    unreadable: true,
  })
}

function createUsageError(
  message: string,
  fix?: string,
  details?: { readonly [key: string]: unknown },
): ToolError {
  return new ToolError('USAGE', message, compact({ suggestion: fix, details }))
}

/** One flag as the scanner sees it: a field of the tool, or a global flag. */
type KnownFlag = {
  readonly long: string
  readonly short?: string | undefined
  /** How many words follow. */
  readonly valueCount: 0 | 1 | 2
  /** `--no-x` is allowed. */
  readonly negatable: boolean
  /** `--x.key value` is allowed. */
  readonly dotted: boolean
  readonly valueName: string
  readonly spec?: FlagSpec
  readonly globalFlag?: GlobalFlag
}

export type FlagTable = {
  long(name: string): KnownFlag | undefined
  short(letter: string): KnownFlag | undefined
  readonly names: readonly string[]
}

/**
 * A table of flags; the first one wins where names meet. It is built when the first flag is looked
 * up, because input as JSON has none.
 */
export function createFlagTable(
  specs: readonly FlagSpec[],
  ...globalFlags: readonly (readonly GlobalFlag[])[]
): FlagTable {
  let built: ReturnType<typeof buildFlagTable> | undefined
  const table = (): ReturnType<typeof buildFlagTable> =>
    (built ??= buildFlagTable(specs, globalFlags.flat()))
  return {
    // People and models write max_depth and maxDepth too.
    long: (name) => table().byLong.get(name) ?? table().byLong.get(toFlagName(name)),
    short: (letter) => table().byShort.get(letter),
    get names() {
      return table()
        .known.filter(({ globalFlag, spec }) => !(globalFlag?.hidden || spec?.hidden))
        .map(({ long }) => `--${long}`)
    },
  }
}

function buildFlagTable(
  specs: readonly FlagSpec[],
  globalFlags: readonly GlobalFlag[],
): {
  readonly known: readonly KnownFlag[]
  readonly byLong: Map<string, KnownFlag>
  readonly byShort: Map<string, KnownFlag>
} {
  const byLong = new Map<string, KnownFlag>()
  const byShort = new Map<string, KnownFlag>()
  const known = [
    ...specs.filter((spec) => spec.fedBy === undefined).map(toKnownFlag),
    ...globalFlags.map(toKnownGlobalFlag),
  ]
  for (const flag of known) {
    if (!byLong.has(flag.long)) byLong.set(flag.long, flag)
    if (flag.short !== undefined && !byShort.has(flag.short)) byShort.set(flag.short, flag)
  }
  return { known, byLong, byShort }
}

function toKnownFlag(spec: FlagSpec): KnownFlag {
  const { long, short, kind, valueName } = spec
  const isBoolean = kind === 'boolean'
  return {
    long,
    short,
    valueCount: isBoolean ? 0 : 1,
    negatable: isBoolean,
    dotted: kind === 'object',
    valueName,
    spec,
  }
}

function toKnownGlobalFlag(globalFlag: GlobalFlag): KnownFlag {
  const { long, short, valueName = '' } = globalFlag
  return {
    long,
    short,
    valueCount: isSwitch(globalFlag) ? 0 : (valueName.split(' ').length as 1 | 2),
    negatable: false,
    dotted: false,
    valueName: valueName || 'value',
    globalFlag,
  }
}

/**
 * The ways in which one word is the whole input: a JSON object, a file that holds one
 * (`@input.json`), or stdin (`-`).
 */
export type WholeInputKind = 'json' | 'file' | 'stdin'

/**
 * How the first word is the whole input; undefined when it is a value like any other. `takesWords`:
 * the tool has fields by position, and one of them may begin with `@`.
 */
export function detectWholeInput(
  first: ArgvWord | undefined,
  takesWords: boolean,
): WholeInputKind | undefined {
  if (!first || first.literal) return undefined
  const { text } = first
  if (text.trimStart().startsWith('{')) return 'json'
  if (text === '-') return 'stdin'
  return text.length > 1 && text.startsWith('@') && (text.endsWith('.json') || !takesWords)
    ? 'file'
    : undefined
}

/**
 * What a field is called on the command line and who gives it a value: all of a flag that does not
 * depend on the schema of its field.
 */
export type NamedFlag = Pick<
  FlagSpec,
  'field' | 'long' | 'short' | 'positional' | 'env' | 'hidden' | 'fedBy'
>

/** The flag of a field as the author of a tool names it, or as its name gives it. */
export function nameFlag(
  field: string,
  { flags, positional }: Pick<ToolMetadata, 'flags' | 'positional'>,
): NamedFlag {
  const { name, short, env, hidden = false } = Object.hasOwn(flags, field) ? flags[field]! : {}
  const long = name ?? toFlagName(field)
  const fedBy = FLAG_BY_RESERVED_FIELD.get(field)
  return {
    field,
    long,
    short,
    positional: positional.includes(field),
    env,
    hidden,
    fedBy: fedBy === long ? fedBy : undefined,
  }
}

const CAMEL_HUMP = lazyRegExp('(\\p{Ll}|\\p{N})(\\p{Lu})', 'gu')
const END_OF_CAPITALS = lazyRegExp('(\\p{Lu})(\\p{Lu}\\p{Ll})', 'gu')
const NON_ALPHANUMERIC = lazyRegExp('[^\\p{L}\\p{N}]+', 'gu')

/**
 * The flag of a field, without dashes: `maxDepth` and `max_depth` are both `max-depth`. Empty when
 * nothing of the name can be typed.
 */
export function toFlagName(field: string): string {
  // Most names need no work, and the regular expressions for all of Unicode are slow to make.
  if (/^[a-z0-9]+$/.test(field)) return field
  const split = /^[\x20-\x7e]*$/.test(field)
    ? field
        .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
        .replace(/([A-Z])([A-Z][a-z])/g, '$1-$2')
        .replace(/[^A-Za-z0-9]+/g, '-')
    : field
        .replace(CAMEL_HUMP(), '$1-$2')
        .replace(END_OF_CAPITALS(), '$1-$2')
        .replace(NON_ALPHANUMERIC(), '-')
  return split.replace(/^-+|-+$/g, '').toLowerCase()
}
