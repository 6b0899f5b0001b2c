import { pathToFileURL } from 'node:url'
import type { Outcome, OutcomeMeta } from '../../../contract/outcome.ts'
import { toJsonText } from './json-text.ts'
import { findList } from './shape/find-list.ts'

/** Writes a text to a file and gives its absolute path. */
export type Spill = (name: string, text: string) => string

const CHARACTERS_PER_TOKEN = 4

/** About how many tokens a value costs a model: a quarter of the characters of its JSON. */
export function estimateTokens(value: unknown): number {
  return Math.ceil(toJsonText(value).length / CHARACTERS_PER_TOKEN)
}

/**
 * Cuts a result that is over the budget and spills the whole of it to a file, which `meta` then names. A list (or the only list of an object) keeps the
 * leading items that fit, a string its head and tail, anything else becomes `{preview}` with the head of its JSON. Markers come on top of a tiny budget.
 */
export function applyTokenBudget(outcome: Outcome, maxTokens: number, spill: Spill): Outcome {
  if (!outcome.ok || estimateTokens(outcome.result) <= maxTokens) return outcome
  const { result, left } = cutResult(outcome.result, maxTokens * CHARACTERS_PER_TOKEN)
  return { ...outcome, result, meta: tellWhere(outcome.meta, left, outcome.result, spill) }
}

type Cut = { readonly result: unknown; /** What was left out, in words. */ readonly left: string }

function cutResult(result: unknown, room: number): Cut {
  if (typeof result === 'string') return cutString(result, room)
  const list = findList(result)
  const frame = list && toJsonText(list.replace([])).length
  if (list && frame !== undefined && (Array.isArray(result) || frame <= room)) {
    const kept = leadingItems(list.items, room - frame)
    return {
      result: list.replace(list.items.slice(0, kept)),
      left: `${list.items.length - kept} of ${list.items.length} items`,
    }
  }
  const text = toJsonText(result)
  const preview = longestFitting(text, room - '{"preview":""}'.length)
  return {
    result: { preview },
    left: `${text.length - preview.length} of ${text.length} characters`,
  }
}

function cutString(text: string, room: number): Cut {
  const marker = `\n… ${text.length} characters left out …\n`
  const half = Math.max(0, Math.floor((room - toJsonText(marker).length) / 2))
  const head = longestFitting(text, half)
  const tail = reverse(
    longestFitting(reverse(text.slice(Math.max(head.length, text.length - half))), half),
  )
  const count = text.length - head.length - tail.length
  return {
    result: `${head}\n… ${count} characters left out …\n${tail}`,
    left: `${count} of ${text.length} characters`,
  }
}

function leadingItems(items: readonly unknown[], room: number): number {
  let used = 0
  for (const [index, item] of items.entries()) {
    used += toJsonText(item).length + (index === 0 ? 0 : 1)
    if (used > room) return index
  }
  return items.length
}

// Escapes make JSON longer than the text, so that the length is counted a character at a time; only what can fit is looked at.
function longestFitting(text: string, room: number): string {
  let fitting = ''
  let used = 0
  for (const character of text.slice(0, Math.max(0, room))) {
    used += toJsonText(character).length - 2
    if (used > room) break
    fitting += character
  }
  return fitting
}

function reverse(text: string): string {
  return [...text].reverse().join('')
}

function tellWhere(meta: OutcomeMeta, left: string, whole: unknown, spill: Spill): OutcomeMeta {
  const told = (warning: string): OutcomeMeta => ({
    ...meta,
    truncated: true,
    warnings: [...(meta.warnings ?? []), warning],
  })
  try {
    const path =
      typeof whole === 'string'
        ? spill('full-result.txt', whole)
        : spill('full-result.json', toJsonText(whole))
    const meta = told(
      `${left} left out to stay within the token budget; the full result is in ${path}`,
    )
    return {
      ...meta,
      artifacts: [
        ...(meta.artifacts ?? []),
        { name: 'full-result', uri: pathToFileURL(path).href },
      ],
    }
  } catch (error) {
    return told(
      `${left} left out to stay within the token budget; the full result could not be saved: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}
