/**
 * Parses requests to the API: path segments and JSON bodies.
 */

import type { HttpRequest } from '../../http/exchange.ts'
import { findConfigMismatch } from '../../protocol/config-shape.ts'
import type { ConfigShape } from '../../protocol/config-shape.ts'
import { parseJsonInput } from '../../protocol/parse-json.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { isRunId } from '../../runner/run-paths.ts'
import type { JsonObject } from '../../util/values.ts'
import { compact } from '../../util/values.ts'

const MAX_BODY_BYTES = 1024 * 1024

/** What a body has to be: its fields, and which of them must be there. */
export type BodyShape = Extract<ConfigShape, { readonly is: 'object' }>

/**
 * The JSON object that a request carries. Throws where it says that it is something else (a page
 * elsewhere can send that without being asked for leave), is too long, or has fields that mean
 * nothing.
 */
export async function readBody(request: HttpRequest, shape: BodyShape): Promise<JsonObject> {
  const type = request.header('content-type')
  if (!/^\s*application\/json\s*(?:;|$)/i.test(type ?? '')) {
    const found = type === undefined ? 'of no type' : `'${type.slice(0, 100)}'`
    throw new RefusedRequest(
      415,
      new ToolError('INVALID_INPUT', `the body is ${found}; application/json is expected`, {
        suggestion: { fix: 'Send JSON and say so', example: 'Content-Type: application/json' },
      }),
      { 'accept-post': 'application/json' },
    )
  }
  const body = parseJsonInput(
    await request.text(MAX_BODY_BYTES),
    'the body',
    'Send one JSON object',
  )
  const misfit = findConfigMismatch(shape, body, ['body'])
  if (!misfit) return body
  const field = misfit.path.slice(1).join('.')
  throw new ToolError(
    'INVALID_INPUT',
    misfit.message,
    compact({ field: field !== '' ? field : undefined, suggestion: misfit.fix }),
  )
}

const MAX_NAME_CHARS = 300

/**
 * A part of a path as it was meant. Throws INVALID_INPUT for what no name has: it might be made
 * part of a path.
 */
export function decodeSegment(segment: string): string {
  const text = decodePercent(segment)
  if (
    text === '' ||
    text === '.' ||
    text === '..' ||
    text.length > MAX_NAME_CHARS ||
    /[/\\\p{Cc}]/u.test(text)
  )
    throw new ToolError('INVALID_INPUT', `'${segment.slice(0, 100)}' is no name`)
  return text
}

/** The id of a run, whole; throws INVALID_INPUT. */
export function parseRunId(text: string): string {
  if (isRunId(text)) return text
  throw new ToolError(
    'INVALID_INPUT',
    `'${text.slice(0, 100)}' is not the id of a run: ids look like r-0123456789`,
    { field: 'run' },
  )
}

/** A place in a list, from 0; throws INVALID_INPUT. */
export function parseIndex(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text)
  throw new ToolError(
    'INVALID_INPUT',
    `'${text.slice(0, 100)}' is no place in a list: they are numbers from 0`,
    { field: 'index' },
  )
}

function decodePercent(segment: string): string {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new ToolError('INVALID_INPUT', `'${segment.slice(0, 100)}' is not percent-encoded UTF-8`)
  }
}

/** A refusal whose status, or headers, the code of its error does not tell. */
export class RefusedRequest extends Error {
  override readonly name = 'RefusedRequest'
  constructor(
    readonly status: number,
    readonly error: ToolError,
    readonly headers: { readonly [name: string]: string } = {},
  ) {
    super(error.message)
  }
}
