import { isObject } from '../../../../contract/json.ts'
import type { JsonObject, JsonSchema } from '../../../../contract/json.ts'
import { flagName } from '../../../../define/flags/flag-name.ts'

/** What stands where something secret was. */
export const HIDDEN = '***'

/** A value without what its schema calls secret: `writeOnly`, or the format `password`. */
export function hideInput(input: JsonObject, schema: JsonSchema | undefined): JsonObject {
  const properties = schema && isObject(schema['properties']) ? schema['properties'] : {}
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => {
      const field =
        Object.hasOwn(properties, name) && isObject(properties[name]) ? properties[name] : undefined
      if (field && isSecret(field)) return [name, HIDDEN]
      return [name, isObject(value) ? hideInput(value, field) : value]
    }),
  )
}

/** Words as they were typed, without the values of flags that the schema calls secret, and without whole inputs in which one is. */
export function hideArguments(
  args: readonly string[],
  schema: JsonSchema | undefined,
): readonly string[] {
  const properties = schema && isObject(schema['properties']) ? schema['properties'] : {}
  const flags = Object.entries(properties)
    .filter(([, field]) => isObject(field) && isSecret(field))
    .map(([name]) => flagName(name))
  if (flags.length === 0) return args
  return args.map((word, index) => {
    const [flag, value] = [word.split('=', 1)[0]!, word.includes('=')]
    if (value && flags.includes(flagName(flag))) return `${flag}=${HIDDEN}`
    if (index > 0 && flags.includes(flagName(args[index - 1]!)) && !args[index - 1]!.includes('='))
      return HIDDEN
    return word.trimStart().startsWith('{') ? hideText(word, schema) : word
  })
}

function hideText(text: string, schema: JsonSchema | undefined): string {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? JSON.stringify(hideInput(value, schema)) : text
  } catch {
    return HIDDEN
  }
}

function isSecret(field: { readonly [keyword: string]: unknown }): boolean {
  return field['writeOnly'] === true || field['format'] === 'password'
}
