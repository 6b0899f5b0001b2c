import type { Flag } from './flag.ts'
import { readFlag } from './flag.ts'
import type { Surroundings } from './spaced-value.ts'
import { readMore, readSpaced, signAt, startsFlag } from './spaced-value.ts'
import type { ValueNote } from './value.ts'
import { closeOf, readAttached } from './value.ts'

/** One flag with the value that is written at it. */
export type FlagSpec = Flag & { value?: ValueNote; /** `--verbose...` */ readonly repeated?: true }

/** The part of a line that names flags. */
export type Head = {
  readonly specs: readonly FlagSpec[]
  /** The flags are different ones, not names of one. */
  readonly list: boolean
  /** Where the description begins, or the end of the line. */
  readonly end: number
  /** What stands between flags and description. */
  readonly joint: 'gap' | 'sign' | 'narrow' | 'end' | 'comma'
}

const JOIN = /(?: *[,|;] *| *\/ *| +or:? +| +and +|, or +| +)/y
const LIST_LIMIT = 200

/** Reads the flags at the beginning of an entry. Undefined where there is none. */
export function readHead(line: string, at: number, around: Surroundings): Head | undefined {
  const specs: FlagSpec[] = []
  let position = at
  let list = false
  for (;;) {
    const spec = readSpec(line, position, around)
    if (!spec) break
    specs.push(spec)
    position = spec.end
    if (specs.length > LIST_LIMIT) break
    const next = nextFlag(line, position, specs, list, around)
    if (next === undefined) break
    list ||= next.list
    position = next.at
  }
  if (specs.length === 0) return undefined
  const joint = jointAt(line, position)
  // Where names fill their column, one blank is all that is left.
  return {
    specs,
    list,
    ...joint,
    ...(joint.joint === 'narrow' &&
      joint.end === around.descriptionColumn && { joint: 'gap' as const }),
  }
}

function readSpec(line: string, at: number, around: Surroundings): FlagSpec | undefined {
  const bracket = /\[ ?(?=-)/y
  bracket.lastIndex = at
  const opened = bracket.exec(line)
  const flag = readFlag(line, at + (opened?.[0].length ?? 0))
  if (!flag) return undefined
  const names = [...flag.names]
  let end = readShorthands(line, flag.end, names)
  const attached = readAttached(line, end)
  let value = attached
  if (attached) end = attached.end
  const repeated = !attached && line.startsWith('...', end)
  if (repeated) end += 3
  if (opened) {
    const close = closeOf(line, at)
    if (close === undefined) return undefined
    const inside = line.slice(end, close - 1).trim()
    if (inside !== '' && !inside.includes('-'))
      value = { text: inside, optional: false, end: close }
    end = close
  }
  const aside = /^ \("[^"]{1,20}"\)/.exec(line.slice(end, end + 30))
  if (aside) end += aside[0].length
  // One who writes `-f FILE, --file=FILE` or `-w [N]` leaves a blank, and so does one who describes.
  const spaced =
    value && !opened
      ? readMore(line, end, around)
      : value
        ? undefined
        : readSpaced(line, end, around)
  if (spaced) {
    value = value ? { ...value, text: `${value.text} ${spaced.text}` } : spaced
    end = spaced.end
  }
  return {
    names,
    negative: flag.negative,
    at: flag.at,
    end,
    ...(value && { value }),
    ...(repeated && { repeated }),
  }
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
function nextFlag(
  line: string,
  at: number,
  specs: readonly FlagSpec[],
  list: boolean,
  around: Surroundings,
): { at: number; list: boolean } | undefined {
  JOIN.lastIndex = at
  const join = JOIN.exec(line)
  if (!join) return undefined
  const next = at + join[0].length
  if (!startsFlag(line, next)) return undefined
  if (join[0].trim() !== '') return { at: next, list: false }
  if (list) return { at: next, list }
  if (next === around.descriptionColumn && join[0].length > 1) return undefined
  const flag = readFlag(line, line[next] === '[' ? line.indexOf('-', next) : next)!
  const alike = specs.some(({ names }) =>
    names.some(
      (name) => isShort(name) === isShort(flag.names[0]!) && !isOpposite(name, flag.names[0]!),
    ),
  )
  if (!alike)
    return isWholly(line, next, around) || join[0].length === 1
      ? { at: next, list: false }
      : undefined
  return isWholly(line, next, around) ? { at: next, list: true } : undefined
}

export function isShort(name: string): boolean {
  return /^-[^-]$/u.test(name)
}

function isOpposite(left: string, right: string): boolean {
  const bare = (name: string): string => name.replace(/^--?(?:no-?|without-|disable-)?/, '')
  return left !== right && bare(left) === bare(right)
}

/** Whether a part of a line has flags and values only, up to a wide space or its end. */
function isWholly(line: string, at: number, around: Surroundings): boolean {
  let position = at
  for (let count = 0; count < LIST_LIMIT; count++) {
    const spec = readSpec(line, position, around)
    if (!spec) return false
    position = spec.end
    if (position >= line.length || line.startsWith('  ', position) || signAt(line, position))
      return true
    JOIN.lastIndex = position
    const join = JOIN.exec(line)
    if (!join) return false
    position += join[0].length
    // find writes `-exec COMMAND ;` and `{} +` into its lists.
    if (/^(?:;|\+|\{\})(?: |$)/.test(line.slice(position, position + 3))) position += 2
    if (position >= line.length) return true
  }
  return false
}

function jointAt(line: string, at: number): Pick<Head, 'end' | 'joint'> {
  if (at >= line.length) return { end: line.length, joint: 'end' }
  if (/^ *, *$/.test(line.slice(at, at + 8)) && line.slice(at).trim() === ',')
    return { end: line.length, joint: 'comma' }
  const sign = signAt(line, at)
  let end = at + sign
  while (line[end] === ' ') end++
  if (sign > 0) return { end, joint: 'sign' }
  const wide = end - at >= 2
  // `-S <path>    = Explicit` keeps its sign behind the wide space.
  if (wide) end += /^(?:[-=:#|–—] +)?/.exec(line.slice(end, end + 4))![0].length
  return { end, joint: wide ? 'gap' : 'narrow' }
}
