/**
 * The part of a line that names flags: their names, their values, and what separates them from the
 * description.
 */

import { compact } from '../../util/values.ts'
import type { FlagToken, SegmentFollower, ValueToken } from './tokens.ts'
import {
  findClosingBracket,
  isNotice,
  isPlaceholder,
  isValueText,
  measureLeadingValue,
  readAttachedValue,
  readFlag,
  splitWords,
} from './tokens.ts'

/** One flag with the value that is written at it. */
export type HelpFlag = FlagToken & {
  value?: ValueToken
  /** `--verbose...` */ readonly repeated?: true
}

/** The part of a line that names flags. */
export type FlagHead = {
  readonly specs: readonly HelpFlag[]
  /** The flags are different ones, not names of one. */
  readonly list: boolean
  /** Where the description begins, or the end of the line. */
  readonly end: number
  /** What stands between flags and description. */
  readonly joint: 'gap' | 'sign' | 'narrow' | 'end' | 'comma'
}

const FLAG_SEPARATOR = /(?: *[,|;] *| *\/ *| +or:? +| +and +|, or +| +)/y
const MAX_FLAGS_PER_LINE = 200

/** Reads the flags at the beginning of an entry. Undefined where there is none. */
export function readFlagHead(line: string, at: number, around: LineContext): FlagHead | undefined {
  const specs: HelpFlag[] = []
  let position = at
  let list = false
  for (;;) {
    const spec = readHelpFlag(line, position, around)
    if (!spec) break
    specs.push(spec)
    position = spec.end
    if (specs.length > MAX_FLAGS_PER_LINE) break
    const next = findNextFlag(line, position, specs, list, around)
    if (next === undefined) break
    list ||= next.list
    position = next.at
  }
  if (specs.length === 0) return undefined
  const { end, joint } = findJoint(line, position)
  // Where names fill their column, one blank is all that is left.
  const isGap = joint === 'narrow' && end === around.descriptionColumn
  return { specs, list, end, joint: isGap ? 'gap' : joint }
}

function readHelpFlag(line: string, at: number, around: LineContext): HelpFlag | undefined {
  const bracket = /\[ ?(?=-)/y
  bracket.lastIndex = at
  const opened = bracket.exec(line)
  const flag = readFlag(line, at + (opened?.[0].length ?? 0))
  if (!flag) return undefined
  const names = [...flag.names]
  let end = readShorthands(line, flag.end, names)
  const attached = readAttachedValue(line, end)
  let value = attached
  if (attached) end = attached.end
  const repeated = !attached && line.startsWith('...', end)
  if (repeated) end += 3
  if (opened) {
    const close = findClosingBracket(line, at)
    if (close === undefined) return undefined
    const inside = line.slice(end, close - 1).trim()
    if (inside !== '' && !inside.includes('-'))
      value = { text: inside, optional: false, end: close }
    end = close
  }
  const aside = /^ \("[^"]{1,20}"\)/.exec(line.slice(end, end + 30))
  if (aside) end += aside[0].length
  // A blank comes before a value (`-f FILE, --file=FILE`, `-w [N]`) and before a description.
  const readMore = value ? readFurtherValues : readSpacedValue
  const spaced = value && opened ? undefined : readMore(line, end, around)
  if (spaced) {
    value = value ? { ...value, text: `${value.text} ${spaced.text}` } : spaced
    end = spaced.end
  }
  return compact({
    names,
    negative: flag.negative,
    at: flag.at,
    end,
    value,
    repeated: repeated || undefined,
  })
}

/** `-v|vv|vvv`, `-sS/sT/sA` and `--min-rate/max-rate`. */
function readShorthands(line: string, at: number, names: string[]): number {
  const double = names[0]!.startsWith('--')
  const pattern = double
    ? /\/([a-z]+(?:-[a-z]+)+)(?=[/: ]|$)/y
    : /[|/]([A-Za-z]{1,3})(?=[|/:, [<]|$)/y
  let end = at
  for (;;) {
    pattern.lastIndex = end
    const found = pattern.exec(line)
    if (!found) return end
    names.push(`${double ? '--' : '-'}${found[1]!}`)
    end += found[0].length
  }
}

/** Where the next name of the same entry begins, if one does. */
function findNextFlag(
  line: string,
  at: number,
  specs: readonly HelpFlag[],
  list: boolean,
  around: LineContext,
): { at: number; list: boolean } | undefined {
  FLAG_SEPARATOR.lastIndex = at
  const join = FLAG_SEPARATOR.exec(line)
  if (!join) return undefined
  const next = at + join[0].length
  if (!startsFlag(line, next)) return undefined
  if (join[0].trim() !== '') return { at: next, list: false }
  if (list) return { at: next, list }
  if (next === around.descriptionColumn && join[0].length > 1) return undefined
  const flag = readFlag(line, line[next] === '[' ? line.indexOf('-', next) : next)!
  const alike = specs.some(({ names }) =>
    names.some(
      (name) =>
        isShortName(name) === isShortName(flag.names[0]!) && !isNegation(name, flag.names[0]!),
    ),
  )
  if (!alike)
    return hasOnlyFlags(line, next, around) || join[0].length === 1
      ? { at: next, list: false }
      : undefined
  return hasOnlyFlags(line, next, around) ? { at: next, list: true } : undefined
}

export function isShortName(name: string): boolean {
  return /^-[^-]$/u.test(name)
}

function isNegation(left: string, right: string): boolean {
  const bare = (name: string): string => name.replace(/^--?(?:no-?|without-|disable-)?/, '')
  return left !== right && bare(left) === bare(right)
}

/** Whether a part of a line has flags and values only, up to a wide space or its end. */
function hasOnlyFlags(line: string, at: number, around: LineContext): boolean {
  let position = at
  for (let count = 0; count < MAX_FLAGS_PER_LINE; count++) {
    const spec = readHelpFlag(line, position, around)
    if (!spec) return false
    position = spec.end
    if (position >= line.length || line.startsWith('  ', position) || measureSign(line, position))
      return true
    FLAG_SEPARATOR.lastIndex = position
    const join = FLAG_SEPARATOR.exec(line)
    if (!join) return false
    position += join[0].length
    // find writes `-exec COMMAND ;` and `{} +` into its lists.
    if (/^(?:;|\+|\{\})(?: |$)/.test(line.slice(position, position + 3))) position += 2
    if (position >= line.length) return true
  }
  return false
}

function findJoint(line: string, at: number): Pick<FlagHead, 'end' | 'joint'> {
  if (at >= line.length) return { end: line.length, joint: 'end' }
  if (/^ *, *$/.test(line.slice(at, at + 8)) && line.slice(at).trim() === ',')
    return { end: line.length, joint: 'comma' }
  const sign = measureSign(line, at)
  let end = at + sign
  while (line[end] === ' ') end++
  if (sign > 0) return { end, joint: 'sign' }
  const wide = end - at >= 2
  // `-S <path>    = Explicit` keeps its sign behind the wide space.
  if (wide) end += /^(?:[-=:#|–—] +)?/.exec(line.slice(end, end + 4))![0].length
  return { end, joint: wide ? 'gap' : 'narrow' }
}

/** What the lines around tell about a line. */
export type LineContext = {
  readonly descriptionColumn: number | undefined
  /** Descriptions follow after one blank. */
  readonly narrow: boolean
  /** The next line describes this one. */
  readonly describedBelow: boolean
}

const DESCRIPTION_SIGN = /(?: +[:=#–—] | +-{1,2} (?!-)|: +|:$| +-$)/y

/**
 * More values behind an attached one: `--foo=A B` is rare, `--size=W [H]` and `<x> ...` are not.
 */
function readFurtherValues(line: string, at: number, around: LineContext): ValueToken | undefined {
  if (line[at] !== ' ' || line[at + 1] === ' ' || at + 1 === around.descriptionColumn)
    return undefined
  const segment = readSegment(line, at + 1, around)
  const words = splitWords(segment.text)
  return words.length > 0 &&
    words.every((word) => (/^[<[]/.test(word) && !isNotice(word)) || word === '...') &&
    segment.follower !== 'end'
    ? { text: segment.text, optional: false, end: segment.end }
    : undefined
}

/** The value that follows a flag after a blank. */
function readSpacedValue(line: string, at: number, around: LineContext): ValueToken | undefined {
  if (line[at] !== ' ') return undefined
  let start = at
  while (line[start] === ' ') start++
  if (start >= line.length || measureSign(line, at) || startsFlag(line, start)) return undefined
  const segment = readSegment(line, start, around)
  const last = start + segment.text.length >= line.length
  if (
    start === around.descriptionColumn &&
    !(start === at + 1 && segment.text.startsWith('<')) &&
    !(last && around.describedBelow && isValueText(segment.text, 'below', false))
  )
    return undefined
  if (start > at + 1) return readColumnValue(segment, start, last)
  const { text } = segment
  if (isValueText(text, segment.follower, around.narrow)) return toValueToken(text, start)
  const leading = measureLeadingValue(text)
  return leading > 0 ? toValueToken(text.slice(0, leading), start) : undefined
}

/** In tables the value may have a column of its own: `--name   TEXT   Who`. */
function readColumnValue(
  segment: LineSegment,
  start: number,
  last: boolean,
): ValueToken | undefined {
  const words = splitWords(segment.text)
  if (words.length > 3 || words.some((word) => !isPlaceholder(word) || isNotice(word)))
    return undefined
  const plain = /^<[^>]+>(\.\.\.)?$/.test(segment.text) || TYPE_NAMES.test(segment.text)
  return segment.follower === 'gap' || segment.follower === 'flag' || (last && plain)
    ? toValueToken(segment.text, start)
    : undefined
}

const TYPE_NAMES =
  /^(?:TEXT|INTEGER|FLOAT|PATH|FILE|FILENAME|DIRECTORY|UUID|BOOLEAN|DATETIME|STRING|NUMBER|INT|URL|<[^>]*>|\[[^\]]*\|[^\]]*\])(?: RANGE)?(?:\.\.\.)?$/

function toValueToken(text: string, start: number): ValueToken {
  const trimmed = text.trimEnd()
  const optional =
    trimmed.startsWith('[') &&
    findClosingBracket(trimmed, 0) === trimmed.replace(/\.\.\.$/, '').length &&
    !trimmed.includes('|')
  return {
    text: optional ? trimmed.replace(/^\[=?/, '').replace(/\](\.\.\.)?$/, '$1') : trimmed,
    optional,
    end: start + trimmed.length,
  }
}

type LineSegment = {
  readonly text: string
  readonly end: number
  readonly follower: SegmentFollower
}

/** The text up to the next wide space, sign, flag or the description column. */
function readSegment(line: string, start: number, around: LineContext): LineSegment {
  let position = start
  const stop = (follower: SegmentFollower): LineSegment => {
    const text = line.slice(start, position).trimEnd()
    return { text, end: start + text.length, follower }
  }
  while (position < line.length) {
    const character = line[position]!
    if (character === ' ') {
      if (line[position + 1] === ' ' || position + 1 === around.descriptionColumn)
        return stop('gap')
      if (measureSign(line, position)) return stop('sign')
      if (startsFlag(line, position + 1)) return stop('flag')
    } else if (character === ':' && measureSign(line, position)) return stop('sign')
    else if (
      ',|/'.includes(character) &&
      (startsFlag(line, position + 1) ||
        (line[position + 1] === ' ' && startsFlag(line, position + 2)))
    )
      return stop('flag')
    else if (character === ',' && position + 1 === line.length) return stop('flag')
    if ('[<{('.includes(character))
      position = Math.max(findClosingBracket(line, position) ?? 0, position + 1)
    else position++
  }
  return stop(around.describedBelow ? 'below' : 'end')
}

/** Whether a flag begins here, perhaps in brackets. */
function startsFlag(line: string, at: number): boolean {
  let dash = at
  if (line[at] === '[') dash += line[at + 1] === ' ' ? 2 : 1
  if (line[dash] !== '-' || readFlag(line, dash) === undefined) return false
  return dash === at || line[dash + 1] === '-'
}

/** The length of a sign that parts flags from their description, with its blanks; 0 for none. */
function measureSign(line: string, at: number): number {
  DESCRIPTION_SIGN.lastIndex = at
  return DESCRIPTION_SIGN.exec(line)?.[0].length ?? 0
}
