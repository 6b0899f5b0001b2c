/**
 * Selects entries by name, tag, source or kind; `*` matches any text.
 */

import { toLookupKey } from '../core/call.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { describeUnknownName } from '../util/text.ts'
import type { EntryParts } from './catalog.ts'

/**
 * Selects tools by names and ids, tags, sources and kinds, each with `*` for any text. A tool has
 * to match one pattern of each field that is set.
 */
export type Filter = {
  readonly name?: string | readonly string[]
  readonly tag?: string | readonly string[]
  readonly source?: string | readonly string[]
  readonly kind?: string | readonly string[]
}

/** `all`, `none`, a name, an id, `<source>.*`, several of them, or a filter. */
export type FilterInput = string | readonly string[] | Filter

/**
 * The entries that a filter selects. Throws NOT_FOUND for a name or source that does not exist,
 * because a misspelt one would silently select nothing.
 */
export function selectEntries<Entry extends EntryParts>(
  entries: readonly Entry[],
  given: FilterInput = 'all',
): readonly Entry[] {
  const { name, tag, source, kind } =
    typeof given === 'string' || Array.isArray(given)
      ? ({ name: given } as Filter)
      : (given as Filter)
  const wanted = toPatternList(name)
  if (wanted?.length === 1 && wanted[0] === 'none') return []
  const tests = [
    createMatcher('tool', wanted?.includes('all') ? undefined : wanted, entries, (entry) => [
      entry.id,
      entry.name,
      entry.found.name,
    ]),
    createMatcher('tag', toPatternList(tag), entries, ({ found }) => found.tags),
    createMatcher('source', toPatternList(source), entries, ({ found }) => [found.source]),
    createMatcher('kind', toPatternList(kind), entries, ({ found }) => [found.kind]),
  ]
  return entries.filter((entry) => tests.every((test) => test(entry)))
}

function toPatternList(
  given: string | readonly string[] | undefined,
): readonly string[] | undefined {
  return typeof given === 'string' ? [given] : given
}

function createMatcher<Entry>(
  kind: string,
  wanted: readonly string[] | undefined,
  entries: readonly Entry[],
  words: (entry: Entry) => readonly string[],
): (entry: Entry) => boolean {
  if (wanted === undefined) return () => true
  const tests = wanted.map((pattern) => createWildcardMatcher(pattern))
  const fits = (entry: Entry, test: (text: string) => boolean): boolean =>
    words(entry).some((word) => test(word))
  wanted.forEach((pattern, index) => {
    if (pattern === 'none' || entries.some((entry) => fits(entry, tests[index]!))) return
    const known = [...new Set(entries.flatMap((entry) => words(entry).slice(0, 2)))]
    throw new ToolError('NOT_FOUND', describeUnknownName(kind, pattern, known).message, {
      details: { [`${kind}s`]: known.slice(0, 50) },
    })
  })
  return (entry) => tests.some((test) => fits(entry, test))
}

/**
 * Tests texts against a pattern in which `*` matches any text. Linear: the pieces between the
 * stars are searched from left to right.
 */
export function createWildcardMatcher(pattern: string): (text: string) => boolean {
  const pieces = toLookupKey(pattern).split('*')
  const first = pieces[0]!
  const last = pieces.at(-1)!
  return (text) => {
    const key = toLookupKey(text)
    if (pieces.length === 1) return key === first
    if (!key.startsWith(first) || !key.endsWith(last) || key.length < first.length + last.length)
      return false
    let position = first.length
    for (const piece of pieces.slice(1, -1)) {
      const at = key.indexOf(piece, position)
      if (at === -1 || at + piece.length > key.length - last.length) return false
      position = at + piece.length
    }
    return true
  }
}
