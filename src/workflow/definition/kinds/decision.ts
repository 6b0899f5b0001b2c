import { isObject } from '../../../contract/json.ts'
import type { Use } from '../draft.ts'
import { readOptions } from '../read-question.ts'
import type { ReadKind } from './kind.ts'

/** `decision_type: choose_strategy` */
export const readDecision: ReadKind = (given, path, { reader }) => {
  const { decision_type, instruction, options, schema, default: fallback, context } = given
  const uses: Use[] = []
  const text = (key: string, value: unknown): boolean =>
    value === undefined || reader.fits({ is: 'text' }, value, [...path, key])
  const value = (key: string, found: unknown): unknown => {
    const read = reader.value(found, [...path, key])
    uses.push(...read.uses)
    return read.value
  }
  if (!text('decision_type', decision_type)) return { fields: undefined }
  text('instruction', instruction)
  for (const [key, found] of Object.entries({ schema, context }))
    if (found !== undefined && !isObject(found))
      reader.find([...path, key], `'${key}' must be an object`)
  const read =
    options === undefined ? undefined : readOptions(reader, options, [...path, 'options'])
  return {
    fields: {
      decision_type,
      ...(instruction !== undefined && { instruction: value('instruction', instruction) }),
      ...(read && { options: read.options }),
      ...(schema !== undefined && { schema: reader.value(schema, [...path, 'schema']).value }),
      ...(fallback !== undefined && { default: value('default', fallback) }),
      ...(context !== undefined && { context: value('context', context) }),
    },
    uses: [...uses, ...(read?.uses ?? [])],
  }
}
