import { schemaOfShape } from '../../contract/documents/schema-of-shape.ts'
import type { Shape } from '../../contract/documents/shape.ts'
import type { JsonSchema } from '../../contract/json.ts'
import { BASE_KEYS, STEP_FORMS, WORKFLOW_KEYS } from './keys.ts'

/** The JSON Schema of a workflow as people write it, for editors: from the table that the reader follows. What expressions ask for, and names that are there twice, only the reader can judge. */
export function workflowSchema(): JsonSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'toolable workflow',
    description: 'Steps that toolable takes in their order, and goes on with after a crash',
    ...objectOf(WORKFLOW_KEYS, ['steps']),
    $defs: {
      step: {
        anyOf: [
          {
            type: 'string',
            minLength: 1,
            description: 'A tool and its arguments as they are typed',
          },
          ...STEP_FORMS.map(({ type, keys, required }) =>
            objectOf(
              {
                ...BASE_KEYS,
                type: { is: 'text', schema: { ...BASE_KEYS['type']!.schema, const: type } },
                ...keys,
              },
              required,
            ),
          ),
        ],
      },
    },
  }
}

function objectOf(
  keys: { readonly [key: string]: Shape },
  required: readonly string[],
): JsonSchema {
  return schemaOfShape({ is: 'object', keys, required })
}
