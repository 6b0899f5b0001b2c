import { readFlag } from './flag.ts'
import type { Follower } from './placeholder.ts'
import { isMark, isNotice, isValueText, leadingValue, wordsOf } from './placeholder.ts'
import type { ValueNote } from './value.ts'
import { closeOf } from './value.ts'

/** What the lines around tell about a line. */
export type Surroundings = {
  readonly descriptionColumn: number | undefined
  /** Descriptions follow after one blank. */
  readonly narrow: boolean
  /** The next line describes this one. */
  readonly describedBelow: boolean
}

const SIGN = /(?: +[:=#–—] | +-{1,2} (?!-)|: +|:$| +-$)/y

/** More values behind an attached one: `--foo=A B` is rare, `--size=W [H]` and `<x> ...` are not. */
export function readMore(line: string, at: number, around: Surroundings): ValueNote | undefined {
  if (line[at] !== ' ' || line[at + 1] === ' ' || at + 1 === around.descriptionColumn)
    return undefined
  const segment = segmentAt(line, at + 1, around)
  const words = wordsOf(segment.text)
  return words.length > 0 &&
    words.every((word) => (/^[<[]/.test(word) && !isNotice(word)) || word === '...') &&
    segment.follower !== 'end'
    ? { text: segment.text, optional: false, end: segment.end }
    : undefined
}

/** The value that follows a flag after a blank. */
export function readSpaced(line: string, at: number, around: Surroundings): ValueNote | undefined {
  if (line[at] !== ' ') return undefined
  let start = at
  while (line[start] === ' ') start++
  if (start >= line.length || signAt(line, at) || startsFlag(line, start)) return undefined
  const segment = segmentAt(line, start, around)
  const last = start + segment.text.length >= line.length
  if (
    start === around.descriptionColumn &&
    !(start === at + 1 && segment.text.startsWith('<')) &&
    !(last && around.describedBelow && isValueText(segment.text, 'below', false))
  )
    return undefined
  if (start > at + 1) return readFar(segment, start, last)
  const { text } = segment
  if (isValueText(text, segment.follower, around.narrow)) return note(text, start)
  const leading = leadingValue(text)
  return leading > 0 ? note(text.slice(0, leading), start) : undefined
}

/** In tables the value may have a column of its own: `--name   TEXT   Who`. */
function readFar(segment: Segment, start: number, last: boolean): ValueNote | undefined {
  const words = wordsOf(segment.text)
  if (words.length > 3 || words.some((word) => !isMark(word) || isNotice(word))) return undefined
  const plain = /^<[^>]+>(\.\.\.)?$/.test(segment.text) || KNOWN_TYPES.test(segment.text)
  return segment.follower === 'gap' || segment.follower === 'flag' || (last && plain)
    ? note(segment.text, start)
    : undefined
}

const KNOWN_TYPES =
  /^(?:TEXT|INTEGER|FLOAT|PATH|FILE|FILENAME|DIRECTORY|UUID|BOOLEAN|DATETIME|STRING|NUMBER|INT|URL|<[^>]*>|\[[^\]]*\|[^\]]*\])(?: RANGE)?(?:\.\.\.)?$/

function note(text: string, start: number): ValueNote {
  const trimmed = text.trimEnd()
  const optional =
    trimmed.startsWith('[') &&
    closeOf(trimmed, 0) === trimmed.replace(/\.\.\.$/, '').length &&
    !trimmed.includes('|')
  return {
    text: optional ? trimmed.replace(/^\[=?/, '').replace(/\](\.\.\.)?$/, '$1') : trimmed,
    optional,
    end: start + trimmed.length,
  }
}

type Segment = { readonly text: string; readonly end: number; readonly follower: Follower }

/** The text up to the next wide space, sign, flag or the description column. */
function segmentAt(line: string, start: number, around: Surroundings): Segment {
  let position = start
  const stop = (follower: Follower): Segment => {
    const text = line.slice(start, position).trimEnd()
    return { text, end: start + text.length, follower }
  }
  while (position < line.length) {
    const character = line[position]!
    if (character === ' ') {
      if (line[position + 1] === ' ' || position + 1 === around.descriptionColumn)
        return stop('gap')
      if (signAt(line, position)) return stop('sign')
      if (startsFlag(line, position + 1)) return stop('flag')
    } else if (character === ':' && signAt(line, position)) return stop('sign')
    else if (
      ',|/'.includes(character) &&
      (startsFlag(line, position + 1) ||
        (line[position + 1] === ' ' && startsFlag(line, position + 2)))
    )
      return stop('flag')
    else if (character === ',' && position + 1 === line.length) return stop('flag')
    if ('[<{('.includes(character)) position = Math.max(closeOf(line, position) ?? 0, position + 1)
    else position++
  }
  return stop(around.describedBelow ? 'below' : 'end')
}

/** Whether a flag begins here, perhaps in brackets. */
export function startsFlag(line: string, at: number): boolean {
  const dash = line[at] === '[' ? (line[at + 1] === ' ' ? at + 2 : at + 1) : at
  return (
    line[dash] === '-' &&
    readFlag(line, dash) !== undefined &&
    (dash === at || line[dash + 1] === '-')
  )
}

/** The length of a sign that parts flags from their description, with its blanks; 0 for none. */
export function signAt(line: string, at: number): number {
  SIGN.lastIndex = at
  return SIGN.exec(line)?.[0].length ?? 0
}
