import type { Field } from './field.ts'
import { examplesOf, show, textOf } from './field.ts'

const MOST_EXAMPLES = 3

/** What a text in a field for numbers means; nothing where it is empty or no number. */
export function readNumber(text: string): number | undefined {
  const number = Number(text)
  return text.trim() === '' || !Number.isFinite(number) ? undefined : number
}

/** What a text of JSON means, or why it is none; an empty one is nothing. */
export function readJson(text: string): { readonly value?: unknown; readonly problem?: string } {
  if (text.trim() === '') return {}
  try {
    return { value: JSON.parse(text) as unknown }
  } catch (error) {
    return { problem: `This is no JSON: ${(error as Error).message}` }
  }
}

/** What helps to fill in a field: its description, its limits, its default and examples, in short sentences. */
export function hintsOf({ schema, kind }: Field): readonly string[] {
  const rest = { default: schema['default'], examples: examplesOf(schema).slice(0, MOST_EXAMPLES) }
  return [
    sentence(textOf(schema['description'])),
    ...limitsOf(schema),
    rest.default !== undefined && kind !== 'boolean'
      ? `Default: ${show(rest.default)}.`
      : undefined,
    rest.examples.length > 0 ? `For example ${rest.examples.map(show).join(', ')}.` : undefined,
    schema['deprecated'] === true ? 'Better not used any more.' : undefined,
  ].filter((hint) => hint !== undefined)
}

function sentence(text: string | undefined): string | undefined {
  return text === undefined || /[.!?:)]\s*$/.test(text) ? text : `${text}.`
}

function limitsOf(schema: { readonly [keyword: string]: unknown }): readonly string[] {
  const {
    minimum,
    maximum,
    exclusiveMinimum,
    exclusiveMaximum,
    multipleOf,
    maxLength,
    minLength,
    minItems,
    maxItems,
    pattern,
    format,
  } = schema
  return [
    range(minimum, maximum, ''),
    typeof exclusiveMinimum === 'number' ? `More than ${exclusiveMinimum}.` : undefined,
    typeof exclusiveMaximum === 'number' ? `Less than ${exclusiveMaximum}.` : undefined,
    typeof multipleOf === 'number' ? `A multiple of ${multipleOf}.` : undefined,
    range(minLength === 0 || minLength === 1 ? undefined : minLength, maxLength, ' characters'),
    range(minItems, maxItems, ' entries'),
    typeof pattern === 'string' ? `Has to match "${pattern}".` : undefined,
    typeof format === 'string' && format !== 'password' && format !== 'path'
      ? `Format: ${format}.`
      : undefined,
  ].filter((limit) => limit !== undefined)
}

// The limits that JSON Schema generators write for whole numbers say nothing to people.
function range(least: unknown, most: unknown, unit: string): string | undefined {
  const from = typeof least === 'number' && least > Number.MIN_SAFE_INTEGER ? least : undefined
  const to = typeof most === 'number' && most < Number.MAX_SAFE_INTEGER ? most : undefined
  if (from !== undefined && to !== undefined) return `${from} to ${to}${unit}.`
  if (from !== undefined) return `At least ${from}${unit}.`
  return to === undefined ? undefined : `At most ${to}${unit}.`
}
