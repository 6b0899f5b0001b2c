import type { JsonSchema } from '../../contract/json.ts'
import { DECODE_MARK } from './decode-mark.ts'
import type { Lens } from './pieces.ts'
import { rewriteAlong } from './rewrite.ts'
import { eachSubschema } from './subschemas.ts'
import type { AnySchema } from './subschemas.ts'

const ISO_DATE =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d\d:?\d\d)?)?$/

/** Turns JSON into the values that a schema library wants where JSON has none of its own: ISO text into `Date`, whole numbers into `bigint`. What does not decode stays as it is. */
export function decodeValue(lens: Lens, schema: JsonSchema, value: unknown): unknown {
  return rewriteAlong(lens, schema, value, (pieces, here) => {
    const mark = pieces.find((piece) => Object.hasOwn(piece, DECODE_MARK))?.[DECODE_MARK]
    if (mark === 'date' && typeof here === 'string') return parseDate(here) ?? here
    if (mark === 'bigint' && Number.isSafeInteger(here)) return BigInt(here as number)
    return here
  })
}

/** True when some position of the schema has to be decoded. */
export function needsDecoding(schema: AnySchema): boolean {
  if (typeof schema === 'boolean') return false
  let found = Object.hasOwn(schema, DECODE_MARK)
  eachSubschema(schema, (subschema) => {
    found ||= needsDecoding(subschema)
  })
  return found
}

/** The date that an ISO 8601 text names; undefined for other text and for days that do not exist. */
export function parseDate(text: string): Date | undefined {
  const match = ISO_DATE.exec(text)
  if (!match) return undefined
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])]
  // Date rolls the 30th of February over into March instead of refusing it.
  if (month < 1 || month > 12 || day < 1 || day > new Date(Date.UTC(year, month, 0)).getUTCDate())
    return undefined
  const date = new Date(text.replace(' ', 'T'))
  return Number.isNaN(date.getTime()) ? undefined : date
}
