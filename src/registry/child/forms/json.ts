import type { JsonObject } from '../../../contract/json.ts'
import { ToolError } from '../../../contract/tool-error.ts'
import type { ChildCall } from '../child-call.ts'
import { runOnce } from '../run-once.ts'
import type { Feed, Form } from './form.ts'

// Some way below what one argument can carry: it shares its room with the environment.
const LARGE = 100_000

/** The input as one JSON argument; by stdin where it is large or secret and the tool reads stdin. */
export const json: Form = (request) =>
  runOnce(request, feedJson(request.call, request.input), { expects: 'json' })

function feedJson(call: ChildCall, input: JsonObject): Feed {
  const text = JSON.stringify(input)
  if (call.stdin && (call.secret || Buffer.byteLength(text) > LARGE))
    return { args: [], input: text }
  if (call.secret)
    throw new ToolError(
      'CONFIG',
      'the tool takes secrets and wants its input as an argument, which every user of the machine can read',
      {
        suggestion: "Let the tool read its input from stdin, and say 'call: stdin' in its manifest",
      },
    )
  return { args: [text] }
}
