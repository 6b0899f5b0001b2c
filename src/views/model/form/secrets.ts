import { isObject } from '../../../contract/json.ts'
import type { JsonSchema } from '../../../contract/json.ts'
import { fieldOf } from './field.ts'
import { variantOf } from './prune.ts'

const HIDDEN = '••••••'

/** A text without the secrets of a value that stand in it: as they are, in JSON, and either of them in quotes of a shell. */
export function hideSecrets(text: string, schema: JsonSchema, value: unknown): string {
  return secretsIn(schema, schema, value)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
    .flatMap((secret) => [secret, secret.replaceAll("'", "'\\''")])
    .sort((left, right) => right.length - left.length)
    .reduce((shown, secret) => shown.replaceAll(secret, HIDDEN), text)
}

function secretsIn(schema: unknown, root: JsonSchema, value: unknown): readonly string[] {
  if (value === undefined || value === '') return []
  const field = fieldOf(schema, root)
  if (field.kind === 'text')
    return field.type === 'password' && typeof value === 'string' ? [value] : []
  if (field.kind === 'list')
    return Array.isArray(value) ? value.flatMap((item) => secretsIn(field.items, root, item)) : []
  if (field.kind === 'variants')
    return secretsIn(field.variants[variantOf(field.variants, root, value)]!.schema, root, value)
  if (field.kind !== 'group' || !isObject(value)) return []
  return field.members.flatMap((member) =>
    Object.hasOwn(value, member.key) ? secretsIn(member.schema, root, value[member.key]) : [],
  )
}
