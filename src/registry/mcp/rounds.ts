import { isObject } from '../../contract/json.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { Root } from '../../contract/interaction.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { Asker } from './asker.ts'
import { answerServer } from './questions.ts'

const MOST_ROUNDS = 20
const PACE = 250

/** Parameters with which a request is sent again. */
export type Answers = { readonly inputResponses?: JsonObject; readonly requestState?: string }

/** Sends a request until the server has what it wants to know; each question is answered by the call that it belongs to. */
export async function inRounds<T>(
  asker: Asker,
  roots: 'none' | 'caller' | readonly Root[],
  send: (answers: Answers) => Promise<T>,
): Promise<T> {
  let answers: Answers = {}
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const result = await send(answers)
    if (!isObject(result) || result['resultType'] !== 'input_required') return result
    const { inputRequests, requestState } = result as {
      readonly inputRequests?: unknown
      readonly requestState?: unknown
    }
    const asked = Object.entries(isObject(inputRequests) ? inputRequests : {})
    if (asked.length === 0) await new Promise((resolve) => setTimeout(resolve, PACE))
    const given: [string, JsonObject][] = []
    // One after the other: a person is asked one thing at a time.
    for (const [key, request] of asked) {
      const { method, params } = isObject(request) ? request : {}
      given.push([
        key,
        await answerServer(String(method), isObject(params) ? params : {}, asker, roots),
      ])
    }
    answers = {
      ...(given.length > 0 && { inputResponses: Object.fromEntries(given) }),
      ...(typeof requestState === 'string' && { requestState }),
    }
  }
  throw new ToolError(
    'DEPENDENCY',
    `the server asked ${MOST_ROUNDS} times and still wants to know more`,
    { retryable: false },
  )
}
