import type { JsonSchema } from '../../contract/json.ts'
import { eachSubschema, mapOf, ownKeyword } from './subschemas.ts'
import type { AnySchema } from './subschemas.ts'

const LONGEST = 1000
// How many ways there may be to try one place of a text, and a text that is tried at one place only.
const MOST_WAYS = { everywhere: 64, once: 100_000 }

/** True when a schema has a pattern, or a format, whose check may take far longer than the text it looks at. */
export function hasRiskyPatterns(schema: AnySchema): boolean {
  if (typeof schema === 'boolean') return false
  const pattern = ownKeyword(schema, 'pattern')
  if (typeof pattern === 'string' && isRisky(pattern)) return true
  if (ownKeyword(schema, 'format') === 'url' || patternKeys(schema).some(isRisky)) return true
  let found = false
  eachSubschema(schema, (subschema) => {
    found ||= hasRiskyPatterns(subschema)
  })
  return found
}

/** True unless a pattern is plainly harmless: anchored, with at most one part that repeats without end, and nothing repeated that repeats itself. Most patterns of real schemas are harmless; the others are only watched. */
export function isRisky(pattern: string): boolean {
  if (pattern.length > LONGEST) return true
  // Back references and look-around; then what stands for one character.
  if (/\\[1-9k]|\(\?(?!:)/.test(pattern)) return true
  const plain = pattern
    .replace(/\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|[^])/g, 'x')
    .replace(/\[[^\]]*\]/g, 'x')
  if (/\)(?:[*+]|\{)/.test(plain)) return true
  // An anchor holds only its own branch.
  const isAnchored = plain.startsWith('^') && !plain.includes('|')
  const endless = plain.match(/[*+]|\{\d*,\}/g)?.length ?? 0
  return (
    endless > (isAnchored ? 1 : 0) ||
    waysThrough(plain) > (isAnchored && endless === 0 ? MOST_WAYS.once : MOST_WAYS.everywhere)
  )
}

function waysThrough(plain: string): number {
  let ways = 1 + (plain.match(/\|/g)?.length ?? 0)
  for (const [, from = '', , to] of plain.matchAll(/\{(\d+)(,(\d+))?\}/g))
    ways *= to === undefined ? Math.max(1, Number(from) / 16) : Number(to) - Number(from) + 1
  return ways * 2 ** Math.min(30, plain.match(/(?<![*+?}])\?/g)?.length ?? 0)
}

function patternKeys(schema: JsonSchema): string[] {
  return mapOf(schema, 'patternProperties').map(([pattern]) => pattern)
}
