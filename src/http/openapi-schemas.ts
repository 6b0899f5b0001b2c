/**
 * The schemas and responses that all operations of the OpenAPI document share.
 */

import type { DeclaredError, ErrorRow } from '../protocol/errors.ts'
import {
  ERROR_CATEGORIES,
  ERROR_TABLE,
  findErrorRow,
  getErrorInfo,
  toHttpStatus,
} from '../protocol/errors.ts'
import type { JsonObject, JsonSchema } from '../util/values.ts'
import { compact } from '../util/values.ts'

const TEXT_SCHEMA = { type: 'string' } as const
const FLAG_SCHEMA = { type: 'boolean' } as const
const COUNT_SCHEMA = { type: 'integer', minimum: 0 } as const

function objectSchema(
  properties: { readonly [name: string]: JsonSchema },
  required: readonly string[],
  more: JsonSchema = {},
): JsonSchema {
  return { type: 'object', properties, required, ...more }
}

/** A reference to one of the schemas that every operation shares. */
function toSchemaRef(name: keyof typeof SHARED_SCHEMAS): JsonSchema {
  return { $ref: `#/components/schemas/${name}` }
}

/** The parts of every envelope. */
export const SHARED_SCHEMAS = {
  Suggestion: objectSchema(
    {
      action: { enum: ['retry_with_modified_input', 'use_different_tool', 'abort'] },
      fix: TEXT_SCHEMA,
      example: TEXT_SCHEMA,
      input: { type: 'object', description: 'A repaired input' },
      applicability: { enum: ['machine_applicable', 'maybe_incorrect', 'has_placeholders'] },
    },
    ['action', 'fix', 'applicability'],
  ),
  Error: objectSchema(
    {
      code: TEXT_SCHEMA,
      category: { enum: ERROR_CATEGORIES },
      message: TEXT_SCHEMA,
      recoverable: { ...FLAG_SCHEMA, description: 'The caller can fix the request' },
      retryable: { ...FLAG_SCHEMA, description: 'The same request may work later' },
      suggestion: { $ref: '#/components/schemas/Suggestion' },
      field: TEXT_SCHEMA,
      details: { type: 'object' },
    },
    ['code', 'category', 'message', 'recoverable', 'retryable'],
  ),
  Summary: objectSchema(
    {
      total: COUNT_SCHEMA,
      succeeded: COUNT_SCHEMA,
      failed: COUNT_SCHEMA,
      recoverable_failures: COUNT_SCHEMA,
    },
    ['total', 'succeeded', 'failed', 'recoverable_failures'],
  ),
  Meta: objectSchema(
    {
      tool: TEXT_SCHEMA,
      version: TEXT_SCHEMA,
      duration_ms: { type: 'number' },
      dry_run: { const: true },
      warnings: { type: 'array', items: TEXT_SCHEMA },
      truncated: { const: true },
      next_cursor: TEXT_SCHEMA,
      caller: TEXT_SCHEMA,
      run_id: TEXT_SCHEMA,
      artifacts: {
        type: 'array',
        items: objectSchema({ name: TEXT_SCHEMA, uri: TEXT_SCHEMA, sha256: TEXT_SCHEMA }, [
          'name',
          'uri',
        ]),
      },
    },
    ['tool', 'duration_ms'],
  ),
  Failure: objectSchema(
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
export function buildSuccessSchema(result: JsonSchema | undefined): JsonSchema {
  return objectSchema(
    {
      ok: { const: true },
      status: { enum: ['success', 'partial'] },
      result: result ?? {},
      message: { ...TEXT_SCHEMA, description: 'Text for the model that goes with the result' },
      content: {
        type: 'array',
        items: { type: 'object' },
        description: 'What a model is shown besides the message',
      },
      errors: {
        type: 'array',
        items: toSchemaRef('Error'),
        description: 'What failed in a partial result',
      },
      summary: toSchemaRef('Summary'),
      meta: toSchemaRef('Meta'),
    },
    ['ok', 'status', 'result', 'meta'],
  )
}

// What the surface itself refuses, besides the table.
const REFUSAL_DESCRIPTIONS: { readonly [status: string]: string } = {
  405: 'The path does not answer this method; `Allow` names those that it does.',
  413: 'The body is longer than the server takes.',
  415: 'The body is not application/json.',
}

const RESPONSE_HEADERS: { readonly [status: string]: JsonObject } = {
  401: { 'WWW-Authenticate': { schema: { type: 'string' } } },
  405: { Allow: { schema: { type: 'string' } } },
}

/** Answers that every operation shares, one for each status that an error can have. */
export function buildSharedResponses(token: boolean): { readonly [name: string]: JsonObject } {
  const refusals: { readonly [status: string]: string } = {
    ...REFUSAL_DESCRIPTIONS,
    ...compact({ 401: token ? 'The bearer token is missing or wrong.' : undefined }),
  }
  return Object.fromEntries(
    listStatuses(token).map((status) => {
      const codes = Object.entries<ErrorRow>(ERROR_TABLE)
        .filter(([, row]) => row.http === status)
        .map(([code, { meaning }]) => `\`${code}\`: ${meaning}.`)
      const own = refusals[status]
      return [
        getResponseName(status),
        compact({
          description: [...(own === undefined ? [] : [own]), ...codes].join(' '),
          content: { 'application/json': { schema: toSchemaRef('Failure') } },
          headers: RESPONSE_HEADERS[status],
        }),
      ]
    }),
  )
}

/** References to the shared answers, by status. */
export function buildFailureResponses(token: boolean): { readonly [status: string]: JsonObject } {
  return Object.fromEntries(
    listStatuses(token).map((status) => [
      String(status),
      { $ref: `#/components/responses/${getResponseName(status)}` },
    ]),
  )
}

/** What a tool says about errors of its own, each with its status. */
export function describeOwnErrors(errors: { readonly [code: string]: DeclaredError }): string {
  const lines = Object.entries(errors).map(([code, declared]) => {
    const { category, retryable } = getErrorInfo(code, declared)
    return `- \`${findErrorRow(code)?.code ?? code}\` (${toHttpStatus({ code, category, retryable })}): ${declared.message}`
  })
  return lines.length === 0 ? '' : `Errors of its own:\n\n${lines.join('\n')}`
}

function listStatuses(token: boolean): readonly number[] {
  const known = [
    ...Object.values(ERROR_TABLE).map(({ http }) => http),
    ...Object.keys(REFUSAL_DESCRIPTIONS).map(Number),
    ...(token ? [401] : []),
  ]
  return [...new Set(known)].sort((left, right) => left - right)
}

function getResponseName(status: number): string {
  return `Failure${status}`
}
