import { findMisfit } from '../../../contract/documents/shape.ts'
import type { Shape } from '../../../contract/documents/shape.ts'
import type { JsonObject } from '../../../contract/json.ts'
import { ToolError } from '../../../contract/tool-error.ts'
import { parseJsonInput } from '../../../define/argv/json-input.ts'
import type { HttpRequest } from '../../../surfaces/http/exchange.ts'
import { RefusedRequest } from './refused-request.ts'

const BODY_LIMIT = 1024 * 1024

/** What a body has to be: its fields, and which of them must be there. */
export type BodyShape = Extract<Shape, { readonly is: 'object' }>

/** The JSON object that a request carries. Throws where it says that it is something else (a page elsewhere can send that without being asked for leave), is too long, or has fields that mean nothing. */
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
  const body = parseJsonInput(await request.text(BODY_LIMIT), 'the body', 'Send one JSON object')
  const misfit = findMisfit(shape, body, ['body'])
  if (!misfit) return body
  const field = misfit.path.slice(1).join('.')
  throw new ToolError('INVALID_INPUT', misfit.message, {
    ...(field !== '' && { field }),
    ...(misfit.fix !== undefined && { suggestion: misfit.fix }),
  })
}
