import { shorten } from '../shorten.ts'

const WORDS: { readonly [keyword: string]: (limit: unknown) => string } = {
  format: (limit) => `format ${String(limit)}`,
  pattern: (limit) => `pattern ${shorten(String(limit), 200)}`,
  minLength: (limit) => `at least ${String(limit)} characters`,
  maxLength: (limit) => `at most ${String(limit)} characters`,
  minimum: (limit) => `at least ${String(limit)}`,
  maximum: (limit) => `at most ${String(limit)}`,
  exclusiveMinimum: (limit) => `above ${String(limit)}`,
  exclusiveMaximum: (limit) => `below ${String(limit)}`,
  multipleOf: (limit) => `a multiple of ${String(limit)}`,
  minItems: (limit) => `at least ${String(limit)} items`,
  maxItems: (limit) => `at most ${String(limit)} items`,
  uniqueItems: () => 'no item twice',
  minProperties: (limit) => `at least ${String(limit)} fields`,
  maxProperties: (limit) => `at most ${String(limit)} fields`,
  default: (limit) => `default ${shorten(JSON.stringify(limit) ?? String(limit), 200)}`,
}

/** A description that also says what a provider does not take as a keyword; undefined when there is nothing to say. */
export function describeWith(
  description: string | undefined,
  limits: { readonly [keyword: string]: unknown },
  more: readonly string[] = [],
): string | undefined {
  const said = [
    ...Object.entries(limits)
      .filter(([keyword, limit]) => limit !== false && Object.hasOwn(WORDS, keyword))
      .map(([keyword, limit]) => WORDS[keyword]!(limit)),
    ...more,
  ]
  if (said.length === 0) return description
  return description === undefined
    ? capitalise(said.join(', '))
    : `${description} (${said.join(', ')})`
}

function capitalise(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
}
