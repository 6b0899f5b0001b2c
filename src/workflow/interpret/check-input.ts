import type { JsonSchema } from '../../contract/json.ts'
import { compileSchema } from '../../define/schema/compile.ts'
import { describeIssues } from '../../define/schema/issues.ts'
import type { Schema } from '../../define/schema/schema.ts'
import type { Settled } from '../engines/engine-type.ts'

// The same definition is executed many times.
const compiled = new WeakMap<JsonSchema, Schema>()

/** Checks the input of a workflow, and gives it with its defaults. */
export async function checkInput(schema: JsonSchema, value: unknown): Promise<Settled> {
  let made = compiled.get(schema)
  if (!made) compiled.set(schema, (made = compileSchema(schema, 'input')))
  const checked = await made.check(value)
  if (checked.ok) return checked
  return {
    ok: false,
    error: {
      code: 'INVALID_INPUT',
      message: describeIssues(checked.issues, 'the input of the workflow'),
      retryable: false,
    },
  }
}
