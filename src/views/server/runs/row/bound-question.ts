import type { OpenQuestion } from '../../../model/summary/summary.ts'
import { keepText } from './keep-text.ts'

const LONGEST_PROMPT = 4000
const LARGEST_PART = 64 * 1024
const LARGEST_VALUE = 8 * 1024

/** A question of bounded size: whatever is too large for a form is left out, and its words are cut. */
export function boundQuestion(question: OpenQuestion): OpenQuestion {
  const kept = Object.entries(question).flatMap(([name, value]): readonly [string, unknown][] => {
    if (typeof value === 'string') return [[name, keepText(value, LONGEST_PROMPT)]]
    return sizeOf(value) <= LARGEST_PART ? [[name, value]] : []
  })
  return Object.fromEntries(kept) as OpenQuestion
}

/** What was answered, of bounded size. */
export function boundValue(value: unknown): unknown {
  return sizeOf(value) <= LARGEST_VALUE ? value : keepText(JSON.stringify(value), LARGEST_VALUE)
}

function sizeOf(value: unknown): number {
  return typeof value === 'object' && value !== null
    ? JSON.stringify(value).length
    : typeof value === 'string'
      ? value.length
      : 0
}
