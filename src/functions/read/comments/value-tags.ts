import type { JsonSchema } from '../../../contract/json.ts'
import type { FlagOptions } from '../../../contract/manifest.ts'
import type { Block } from './parse-comment.ts'
import { plainText } from './parse-comment.ts'

/** What tags say about one value: keywords of its schema, its flag, and its default as it is written: only its type tells whether that is a value. */
export type ValueTags = {
  readonly schema: JsonSchema
  readonly flag: FlagOptions
  readonly written?: string
  readonly problems: readonly string[]
}

type Read = (
  text: string,
) =>
  | { readonly schema?: JsonSchema; readonly flag?: FlagOptions; readonly written?: string }
  | undefined

const number =
  (keyword: string): Read =>
  (text) =>
    text !== '' && Number.isFinite(Number(text))
      ? { schema: { [keyword]: Number(text) } }
      : undefined
const count =
  (keyword: string): Read =>
  (text) =>
    /^\d+$/.test(text) ? { schema: { [keyword]: Number(text) } } : undefined

const READERS: ReadonlyMap<string, Read> = new Map<string, Read>([
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'].map(
    (keyword): [string, Read] => [keyword, number(keyword)],
  ),
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'].map(
    (keyword): [string, Read] => [keyword, count(keyword)],
  ),
  ['pattern', readPattern],
  ['format', (text) => (/^[a-z][a-z0-9-]*$/.test(text) ? { schema: { format: text } } : undefined)],
  ['uniqueItems', () => ({ schema: { uniqueItems: true } })],
  ['integer', () => ({ schema: { type: 'integer' } })],
  ...['default', 'defaultValue'].map((tag): [string, Read] => [tag, (text) => ({ written: text })]),
  ['deprecated', () => ({ schema: { deprecated: true } })],
  [
    'flag',
    (text) =>
      /^-[A-Za-z]$/.test(text)
        ? { flag: { short: text.slice(1) } }
        : /^--[a-z0-9][a-z0-9-]*$/.test(text)
          ? { flag: { name: text.slice(2) } }
          : undefined,
  ],
  ['env', (text) => (/^[A-Za-z_]\w*$/.test(text) ? { flag: { env: text } } : undefined)],
  ['hidden', () => ({ flag: { hidden: true } })],
])

/** True for a tag that speaks about a value. */
export function isValueTag(tag: string): boolean {
  return READERS.has(tag)
}

/** Reads the tags about one value; `description` is the text beside them. */
export function readValueTags(blocks: readonly Block[], description: string): ValueTags {
  let schema: JsonSchema =
    description === '' ? {} : { description: plainText(description).replace(/\s*\n\s*/g, ' ') }
  let flag: FlagOptions = {}
  let written: string | undefined
  const problems: string[] = []
  for (const { tag, text } of blocks) {
    const read = READERS.get(tag)
    if (!read) continue
    const found = read(text.trim())
    if (!found) problems.push(`@${tag} ${text.trim()} cannot be understood`.replace(/\s+/g, ' '))
    schema = { ...schema, ...found?.schema }
    flag = { ...flag, ...found?.flag }
    written = found?.written ?? written
  }
  return { schema, flag, ...(written !== undefined && { written }), problems }
}

function readPattern(text: string): { readonly schema: JsonSchema } | undefined {
  const pattern = /^\/(.+)\/$/s.exec(text)?.[1] ?? text
  try {
    return new RegExp(pattern, 'u') && { schema: { pattern } }
  } catch {
    return undefined
  }
}
