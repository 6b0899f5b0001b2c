import type { JsonSchema } from '../../../contract/json.ts'
import { unwrapNullable } from '../../../define/flags/unwrap-schema.ts'
import { cutText, tidyLine } from './tidy-text.ts'

const LONGEST_PATTERN = 60

/** What a value has to keep to besides its type: `1 to 100`, `at most 200 characters`; undefined where there is nothing to say. */
export function limitsOf(given: JsonSchema): string | undefined {
  const schema = unwrapNullable(given)
  const said = [
    range(schema['minimum'], schema['maximum']),
    below(schema['exclusiveMinimum'], 'more than'),
    below(schema['exclusiveMaximum'], 'less than'),
    // That a text is not empty goes without saying.
    range(
      schema['minLength'] === 1 ? undefined : schema['minLength'],
      schema['maxLength'],
      ' characters',
    ),
    range(schema['minItems'], schema['maxItems'], ' items'),
    below(schema['multipleOf'], 'a multiple of'),
    typeof schema['format'] === 'string' && !schema['format'].endsWith('path')
      ? `format ${schema['format']}`
      : undefined,
    typeof schema['pattern'] === 'string'
      ? `pattern ${cutText(schema['pattern'], LONGEST_PATTERN)}`
      : undefined,
  ].filter((part) => part !== undefined)
  return said.length === 0 ? undefined : tidyLine(said.join(', '))
}

function range(least: unknown, most: unknown, unit = ''): string | undefined {
  if (typeof least === 'number' && typeof most === 'number')
    return least === most ? `exactly ${least}${unit}` : `${least} to ${most}${unit}`
  if (typeof least === 'number') return `at least ${least}${unit}`
  return typeof most === 'number' ? `at most ${most}${unit}` : undefined
}

function below(bound: unknown, words: string): string | undefined {
  return typeof bound === 'number' ? `${words} ${bound}` : undefined
}
