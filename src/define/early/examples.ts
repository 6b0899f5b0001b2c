import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'
import type { Example } from '../../contract/manifest.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { DECODE_MARK } from '../schema/decode-mark.ts'
import { readSource } from '../schema/source.ts'
import { findMisfit } from './misfit.ts'

/** Refuses examples that plainly do not fit as soon as a tool is defined; the rest is checked when the schema is compiled. */
export function checkExamplesEarly(
  name: string,
  examples: readonly Example[],
  source: unknown,
  schema: JsonSchema | undefined,
): void {
  examples.forEach((example, index) => {
    const which = `example ${index + 1} of tool '${name}'`
    if (!isObject(example) || (example.input === undefined && example.args === undefined))
      throw new ToolError('CONFIG', `${which} needs 'input' or 'args'`)
    if (example.input === undefined) return
    // Dates and big integers are text in examples; only the compiled schema decodes them for the library.
    if (!schema || JSON.stringify(schema).includes(DECODE_MARK)) return
    const problem = findMisfit(schema, example.input) ?? askLibrary(source, example.input)
    if (problem !== undefined)
      throw new ToolError('CONFIG', `${which} does not fit its input: ${problem}`)
  })
}

function askLibrary(source: unknown, input: unknown): string | undefined {
  const read = readSource(source)
  const result = 'standard' in read ? read.standard['~standard'].validate(input) : undefined
  // What has to wait is waited for when the schema is compiled; here nobody may stumble over it.
  if (result instanceof Promise) return void result.catch(() => undefined)
  if (!result?.issues) return undefined
  const [issue] = result.issues
  const path = (issue?.path ?? [])
    .map((part) => String(typeof part === 'object' ? part.key : part))
    .join('.')
  return `${path ? `${path}: ` : ''}${issue?.message ?? 'it is refused'}`
}
