import { compilePlain } from './plain.ts'
import type { Schema, SchemaSource } from './schema.ts'
import { readSource } from './source.ts'
import { compileStandard } from './standard.ts'

/** Makes a schema of any kind ready for use. Throws CONFIG, with the way out, for what is no usable schema; an input has to be an object. */
export function compileSchema(source: SchemaSource, direction: 'input' | 'output'): Schema {
  const read = readSource(source)
  return 'standard' in read
    ? compileStandard(read.standard, direction)
    : compilePlain(read.plain, direction)
}
