import { isObject } from '../../../contract/json.ts'
import type { JsonSchema } from '../../../contract/json.ts'
import { flagName } from '../../../define/flags/flag-name.ts'
import type { DescribedTool } from './subject.ts'

/** The fields of a tool's input, each with its schema. */
export function fieldsOf({
  inputSchema,
}: DescribedTool): readonly (readonly [name: string, schema: JsonSchema])[] {
  const properties = inputSchema?.['properties']
  return isObject(properties)
    ? Object.entries(properties).filter((entry): entry is [string, JsonSchema] =>
        isObject(entry[1]),
      )
    : []
}

/** The fields without which a tool cannot be called. */
export function requiredOf({ inputSchema }: DescribedTool): readonly string[] {
  const required = inputSchema?.['required']
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
}

/** The first field of a simple type among some. */
export function fieldOfType(
  tool: DescribedTool,
  types: readonly string[],
): readonly [name: string, schema: JsonSchema] | undefined {
  return fieldsOf(tool).find(
    ([, schema]) => typeof schema['type'] === 'string' && types.includes(schema['type']),
  )
}

/** A field as a flag. */
export function flagOf(field: string): string {
  return `--${flagName(field)}`
}
