import { ToolError } from '../contract/tool-error.ts'
import { describeIssues } from './schema/issues.ts'
import type { CompiledTool } from './tool-type.ts'

/** Refuses examples whose input or output the compiled schemas of their tool do not take: also those that could not be judged when the tool was defined. Throws CONFIG. */
export async function checkExamples({ manifest, input, output }: CompiledTool): Promise<void> {
  for (const [index, example] of manifest.examples.entries()) {
    for (const [part, schema] of [
      ['input', input],
      ['output', output],
    ] as const) {
      if (example[part] === undefined || !schema) continue
      const checked = await schema.check(example[part])
      if (checked.ok) continue
      throw new ToolError(
        'CONFIG',
        `example ${index + 1} of tool '${manifest.name}' does not fit its ${part}: ${describeIssues(checked.issues, `the ${part}`)}`,
        { suggestion: 'Correct the example, or the schema' },
      )
    }
  }
}
