import { isObject } from '../../contract/json.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { BodyPlan, FieldPlan } from './plan.ts'

export type Body = {
  readonly body: string | FormData | URLSearchParams
  /** Absent where the body brings its own. */ readonly type?: string
}

/** The body of a request; undefined where nothing of it was given. */
export function bodyOf(
  { type, field }: BodyPlan,
  fields: readonly FieldPlan[],
  input: JsonObject,
): Body | undefined {
  const value =
    field === undefined
      ? rest(fields, input)
      : Object.hasOwn(input, field)
        ? input[field]
        : undefined
  if (value === undefined) return undefined
  const plain = type.split(';')[0]!.trim().toLowerCase()
  if (plain === 'application/x-www-form-urlencoded')
    return { body: new URLSearchParams(pairs(value)) }
  if (plain === 'multipart/form-data') return { body: form(value) }
  if (plain.startsWith('text/')) return { body: String(value), type: plain }
  return { body: JSON.stringify(value), type: plain.includes('*') ? 'application/json' : plain }
}

function rest(fields: readonly FieldPlan[], input: JsonObject): JsonObject {
  const parameters = new Set(fields.map(({ field }) => field))
  return Object.fromEntries(Object.entries(input).filter(([name]) => !parameters.has(name)))
}

function pairs(value: unknown): [string, string][] {
  const text = (item: unknown): string => (typeof item === 'string' ? item : JSON.stringify(item))
  return Object.entries(isObject(value) ? value : {}).flatMap(([name, item]) =>
    Array.isArray(item)
      ? item.map((each): [string, string] => [name, text(each)])
      : ([[name, text(item)]] as [string, string][]),
  )
}

function form(value: unknown): FormData {
  const made = new FormData()
  for (const [name, text] of pairs(value)) made.append(name, text)
  return made
}
