import { isDeepStrictEqual } from 'node:util'
import type ts from 'typescript'
import { isObject } from '../../../contract/json.ts'
import type { JsonSchema } from '../../../contract/json.ts'
import { literalValue } from '../literal-value.ts'
import type { LiteralValue } from '../literal-value.ts'
import type { Work } from '../types/work.ts'
import type { ValueTags } from './value-tags.ts'

type Reading = Pick<Work, 'ts' | 'checker' | 'note'>

/** A schema with all that comments say about the value; of two the last counts. */
export function describeValue(
  reading: Reading,
  name: string,
  schema: JsonSchema,
  ...said: readonly (ValueTags | undefined)[]
): JsonSchema {
  const described: JsonSchema = said.reduce<JsonSchema>(
    (all, tags) => ({ ...all, ...tags?.schema }),
    schema,
  )
  const written = said.findLast((tags) => tags?.written !== undefined)?.written
  if (written === undefined) return described
  const found = readDefault(reading, described, written)
  if (found) return { ...described, default: found.value }
  if (written === '' || written === 'undefined') return described
  // Code and words that only a person understands: they are shown to one, and the function knows its own default.
  reading.note(
    'default',
    `the default of '${name}' is told and not given, because it is no value: ${written}`,
  )
  return {
    ...described,
    description: [described['description'], `(default: ${written})`]
      .filter((part) => part !== undefined)
      .join(' '),
  }
}

// A default as it is written in a comment, where it is a value that the schema takes: JSON, a literal of the language, or a word.
function readDefault(
  { ts, checker }: Reading,
  schema: JsonSchema,
  written: string,
): LiteralValue | undefined {
  const text = written.replace(/^`(.*)`$/s, '$1').trim()
  return [
    readJson(text),
    readLiteral(ts, checker, text),
    isWord(schema, text) ? { value: text } : undefined,
  ].find((found) => found && fits(schema, found.value))
}

function readJson(text: string): LiteralValue | undefined {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}

function readLiteral(
  ts: Work['ts'],
  checker: ts.TypeChecker,
  text: string,
): LiteralValue | undefined {
  const source = ts.createSourceFile('default.ts', `(${text})`, ts.ScriptTarget.Latest, true)
  const [statement, ...more] = source.statements
  const isBroken =
    (source as unknown as { readonly parseDiagnostics: readonly unknown[] }).parseDiagnostics
      .length > 0
  return !isBroken && more.length === 0 && statement && ts.isExpressionStatement(statement)
    ? literalValue(ts, checker, statement.expression)
    : undefined
}

// `@default utf8` is a text without its quotes; `process.cwd()`, `os.EOL` and `the current folder` are none.
function isWord({ enum: choices }: JsonSchema, text: string): boolean {
  return Array.isArray(choices)
    ? choices.includes(text)
    : /^[^\s()[\]{}"'`;=<>]+$/.test(text) &&
        !/^(undefined|null|NaN|-?Infinity|(process|os|path|globalThis|import|Number|Math|Date)\..*)$/.test(
          text,
        )
}

const TYPES: { readonly [type: string]: (value: unknown) => boolean } = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: Array.isArray,
  object: isObject,
}

// As far as it can be told without what the schema refers to.
function fits(schema: JsonSchema, value: unknown): boolean {
  const { type, enum: choices, items, anyOf } = schema
  if (Array.isArray(choices) && !choices.includes(value)) return false
  if (Object.hasOwn(schema, 'const') && !isDeepStrictEqual(schema['const'], value)) return false
  if (Array.isArray(anyOf) && !anyOf.some((branch) => isObject(branch) && fits(branch, value)))
    return false
  if (isObject(items) && Array.isArray(value) && !value.every((item) => fits(items, item)))
    return false
  return type === undefined || [type].flat().some((each) => TYPES[String(each)]?.(value) === true)
}
