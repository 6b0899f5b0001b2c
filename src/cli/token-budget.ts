/**
 * Applies `--max-tokens`: cuts the result and writes the full one to a file.
 */

import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Outcome, OutcomeMeta } from '../protocol/outcome.ts'
import { toJsonText } from './formats/json-text.ts'
import { findList } from './result-shape.ts'

/** Writes a text to a file and gives its absolute path. */
export type SpillWriter = (name: string, text: string) => string

const CHARACTERS_PER_TOKEN = 4

/** About how many tokens a value costs a model: a quarter of the characters of its JSON. */
export function estimateTokens(value: unknown): number {
  return Math.ceil(toJsonText(value).length / CHARACTERS_PER_TOKEN)
}

/**
 * Cuts a result that is over the budget and spills the whole of it to a file, which `meta` then
 * names. A list (or the only list of an object) keeps the
 * leading items that fit, a string its head and tail, anything else becomes `{preview}` with the
 * head of its JSON. Markers come on top of a tiny budget.
 */
export function applyTokenBudget(outcome: Outcome, maxTokens: number, spill: SpillWriter): Outcome {
  if (!outcome.ok || estimateTokens(outcome.result) <= maxTokens) return outcome
  const { result, left } = truncateResult(outcome.result, maxTokens * CHARACTERS_PER_TOKEN)
  return { ...outcome, result, meta: addSpillNote(outcome.meta, left, outcome.result, spill) }
}

type TruncatedResult = {
  readonly result: unknown
  /** What was left out, in words. */ readonly left: string
}

function truncateResult(result: unknown, room: number): TruncatedResult {
  if (typeof result === 'string') return truncateString(result, room)
  const list = findList(result)
  const frame = list && toJsonText(list.replace([])).length
  if (list && frame !== undefined && (Array.isArray(result) || frame <= room)) {
    const kept = countFittingItems(list.items, room - frame)
    return {
      result: list.replace(list.items.slice(0, kept)),
      left: `${list.items.length - kept} of ${list.items.length} items`,
    }
  }
  const text = toJsonText(result)
  const preview = takeFitting(text, room - '{"preview":""}'.length)
  return {
    result: { preview },
    left: `${text.length - preview.length} of ${text.length} characters`,
  }
}

function truncateString(text: string, room: number): TruncatedResult {
  const marker = `\n… ${text.length} characters left out …\n`
  const half = Math.max(0, Math.floor((room - toJsonText(marker).length) / 2))
  const head = takeFitting(text, half)
  const tail = reverseText(
    takeFitting(reverseText(text.slice(Math.max(head.length, text.length - half))), half),
  )
  const count = text.length - head.length - tail.length
  return {
    result: `${head}\n… ${count} characters left out …\n${tail}`,
    left: `${count} of ${text.length} characters`,
  }
}

function countFittingItems(items: readonly unknown[], room: number): number {
  let used = 0
  for (const [index, item] of items.entries()) {
    used += toJsonText(item).length + (index === 0 ? 0 : 1)
    if (used > room) return index
  }
  return items.length
}

// Escapes make JSON longer than the text, so that the length is counted a character at a time; only
// what can fit is looked at.
function takeFitting(text: string, room: number): string {
  let fitting = ''
  let used = 0
  for (const character of text.slice(0, Math.max(0, room))) {
    used += toJsonText(character).length - 2
    if (used > room) break
    fitting += character
  }
  return fitting
}

function reverseText(text: string): string {
  return [...text].reverse().join('')
}

function addSpillNote(
  meta: OutcomeMeta,
  left: string,
  whole: unknown,
  spill: SpillWriter,
): OutcomeMeta {
  const note = `${left} left out to stay within the token budget; the full result`
  const truncated = (warning: string): OutcomeMeta => ({
    ...meta,
    truncated: true,
    warnings: [...(meta.warnings ?? []), `${note} ${warning}`],
  })
  try {
    const path =
      typeof whole === 'string'
        ? spill('full-result.txt', whole)
        : spill('full-result.json', toJsonText(whole))
    const artifact = { name: 'full-result', uri: pathToFileURL(path).href }
    return { ...truncated(`is in ${path}`), artifacts: [...(meta.artifacts ?? []), artifact] }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return truncated(`could not be saved: ${reason}`)
  }
}

/**
 * Makes a spill that writes into a new private directory below `parent`, which is the temporary
 * directory of the platform. The directory stays, because the caller reads it later.
 */
export function createSpillWriter(
  parent: string = tmpdir(),
): (name: string, text: string) => string {
  let directory: string | undefined
  return (name, text) => {
    // mkdtemp makes the directory with mode 0700.
    directory ??= mkdtempSync(join(parent, 'toolable-'))
    const path = join(directory, basename(name))
    writeFileSync(path, text, { mode: 0o600 })
    return path
  }
}
