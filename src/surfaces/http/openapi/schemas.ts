import type { JsonSchema } from '../../../contract/json.ts'

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const count = { type: 'integer', minimum: 0 } as const

function object(
  properties: { readonly [name: string]: JsonSchema },
  required: readonly string[],
  more: JsonSchema = {},
): JsonSchema {
  return { type: 'object', properties, required, ...more }
}

/** A reference to one of the schemas that every operation shares. */
export function schemaRef(name: keyof typeof SHARED_SCHEMAS): JsonSchema {
  return { $ref: `#/components/schemas/${name}` }
}

/** The parts of every envelope. */
export const SHARED_SCHEMAS = {
  Suggestion: object(
    {
      action: { enum: ['retry_with_modified_input', 'use_different_tool', 'abort'] },
      fix: text,
      example: text,
      input: { type: 'object', description: 'A repaired input' },
      applicability: { enum: ['machine_applicable', 'maybe_incorrect', 'has_placeholders'] },
    },
    ['action', 'fix', 'applicability'],
  ),
  Error: object(
    {
      code: text,
      category: { enum: ['input', 'auth', 'state', 'runtime', 'internal'] },
      message: text,
      recoverable: { ...flag, description: 'The caller can fix the request' },
      retryable: { ...flag, description: 'The same request may work later' },
      suggestion: { $ref: '#/components/schemas/Suggestion' },
      field: text,
      details: { type: 'object' },
    },
    ['code', 'category', 'message', 'recoverable', 'retryable'],
  ),
  Summary: object({ total: count, succeeded: count, failed: count, recoverable_failures: count }, [
    'total',
    'succeeded',
    'failed',
    'recoverable_failures',
  ]),
  Meta: object(
    {
      tool: text,
      version: text,
      duration_ms: { type: 'number' },
      dry_run: { const: true },
      warnings: { type: 'array', items: text },
      truncated: { const: true },
      next_cursor: text,
      caller: text,
      run_id: text,
      artifacts: {
        type: 'array',
        items: object({ name: text, uri: text, sha256: text }, ['name', 'uri']),
      },
    },
    ['tool', 'duration_ms'],
  ),
  Failure: object(
    {
      ok: { const: false },
      status: { const: 'error' },
      errors: { type: 'array', items: { $ref: '#/components/schemas/Error' } },
      summary: { $ref: '#/components/schemas/Summary' },
      error: { $ref: '#/components/schemas/Error' },
      meta: { $ref: '#/components/schemas/Meta' },
    },
    ['ok', 'status', 'error', 'meta'],
    { description: 'What every failure answers with' },
  ),
} as const satisfies { readonly [name: string]: JsonSchema }

/** The envelope of a call that worked, whole or in part. */
export function successSchema(result: JsonSchema | undefined): JsonSchema {
  return object(
    {
      ok: { const: true },
      status: { enum: ['success', 'partial'] },
      result: result ?? {},
      message: { ...text, description: 'Text for the model that goes with the result' },
      content: {
        type: 'array',
        items: { type: 'object' },
        description: 'What a model is shown besides the message',
      },
      errors: {
        type: 'array',
        items: schemaRef('Error'),
        description: 'What failed in a partial result',
      },
      summary: schemaRef('Summary'),
      meta: schemaRef('Meta'),
    },
    ['ok', 'status', 'result', 'meta'],
  )
}
