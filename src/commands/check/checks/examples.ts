import { isObject } from '../../../contract/json.ts'
import { validateInput } from '../../../call/validate.ts'
import { defineForeign } from '../../../registry/foreign/define-foreign.ts'
import { failed, PASS } from '../check-type.ts'
import type { Check } from '../check-type.ts'
import type { DescribedTool } from '../subject/subject.ts'
import { skipSilent } from './discovery.ts'

/** Its examples would work. */
export const examples: Check = {
  id: 'examples',
  title: 'the examples of its tools fit their own schemas',
  weight: 4,
  skip: (subject) =>
    skipSilent(subject) ??
    (subject.tools.some(hasExample) ? undefined : 'it shows no examples with an input'),
  async run({ tools }) {
    for (const tool of tools.filter(hasExample)) {
      const definition = defineForeign(
        'checked',
        { ...(tool.inputSchema && { inputSchema: withoutPathRules(tool.inputSchema) }) },
        () => undefined,
      )
      for (const { input } of tool.examples) {
        const problem = input && (await validateInput(definition, input))
        if (problem)
          return failed(
            `an example of ${tool.name} is refused: ${problem.message}`,
            'Mend the example: models copy it',
          )
      }
    }
    return PASS
  },
}

function hasExample({ examples: given, inputSchema }: DescribedTool): boolean {
  return inputSchema !== undefined && given.some(({ input }) => isObject(input))
}

// Whether a file is there is no question of the form.
function withoutPathRules(schema: unknown): never {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === 'x-toolable-path' ? undefined : value,
  ) as never
}
