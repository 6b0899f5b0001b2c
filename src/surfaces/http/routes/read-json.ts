import { ToolError } from '../../../contract/tool-error.ts'
import { parseJsonInput } from '../../../define/argv/json-input.ts'
import { refuse } from '../refuse.ts'
import type { HttpAnswer } from '../exchange.ts'
import { BODY_LIMIT } from './route.ts'
import type { Exchange } from './route.ts'

type ReadJson =
  { readonly input: { readonly [field: string]: unknown } } | { readonly refused: HttpAnswer }

/** The JSON object that a request carries. Another media type is refused: a page elsewhere can send it without being asked for leave. */
export async function readJson({ request, set, options }: Exchange): Promise<ReadJson> {
  const type = request.header('content-type')
  if (!/^\s*application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type ?? '')) {
    const error = new ToolError(
      'INVALID_INPUT',
      `the body is ${type === undefined ? 'of no type' : `'${type.slice(0, 100)}'`}; application/json is expected`,
      { suggestion: { fix: 'Send JSON and say so', example: 'Content-Type: application/json' } },
    )
    return {
      refused: refuse(error, {
        status: 415,
        headers: { 'accept-post': 'application/json' },
        meta: { tool: set.name, version: set.version },
      }),
    }
  }
  return {
    input: parseJsonInput(
      await request.text(options.bodyLimit ?? BODY_LIMIT),
      'the body',
      'Send one JSON object',
    ),
  }
}
