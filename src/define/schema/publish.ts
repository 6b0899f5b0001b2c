import type { JsonSchema } from '../../contract/json.ts'
import { closeObjects } from './close-objects.ts'
import { inlineRefs } from './inline-refs.ts'
import { removeMarks } from './tidy.ts'

/** The form of a schema that callers see: self-contained, closed, and plainly an object where it is the input of a tool. */
export function publishSchema(schema: JsonSchema, direction: 'input' | 'output'): JsonSchema {
  const published = removeMarks(closeObjects(inlineRefs(schema)))
  return direction === 'input' && !Object.hasOwn(published, 'type')
    ? { type: 'object', ...published }
    : published
}
