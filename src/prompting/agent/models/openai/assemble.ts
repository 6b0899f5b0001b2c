import { isObject } from '../../../../contract/json.ts'
import type { JsonObject } from '../../../../contract/json.ts'
import type { ModelCall, ModelReply } from '../../model-type.ts'

// Fields of a message that some servers want to see again with the calls that came with them.
const THOUGHTS = ['reasoning_content', 'reasoning_details']

/** Puts a reply together from its pieces, whole messages included. */
export type Assembly = {
  /** A choice as the server sent it: `{ delta }` or `{ message }`. Gives the text in it. */
  add(choice: JsonObject): string
  /** Takes `usage` of a chunk, where it has one. */
  count(usage: unknown): void
  /** True once the server has said why it stopped. */
  readonly finished: boolean
  reply(): ModelReply
}

type Call = { readonly index: unknown; id: string | undefined; name: string; arguments: unknown; own: JsonObject }

/** Starts with nothing. */
export function assemble(): Assembly {
  let text = ''
  let finish: unknown
  let usage: ModelReply['usage']
  const calls: Call[] = []
  const thoughts: { [field: string]: unknown } = {}

  const addCall = (delta: JsonObject): void => {
    const { index, id, type: _type, function: called, ...own } = delta
    const { name, arguments: given } = isObject(called) ? called : {}
    const call = findCall(calls, index, id) ?? begin(calls, index)
    if (typeof id === 'string' && id !== '') call.id = id
    // Some servers repeat the name in every piece.
    if (typeof name === 'string' && name !== call.name) call.name += name
    if (isObject(given)) call.arguments = given
    else if (typeof given === 'string') call.arguments = `${typeof call.arguments === 'string' ? call.arguments : ''}${given}`
    call.own = { ...call.own, ...own }
  }

  return {
    add(choice) {
      const said = isObject(choice['delta']) ? choice['delta'] : isObject(choice['message']) ? choice['message'] : {}
      if (typeof choice['finish_reason'] === 'string' && choice['finish_reason'] !== '') finish = choice['finish_reason']
      if (Array.isArray(said['tool_calls'])) said['tool_calls'].filter(isObject).forEach(addCall)
      for (const field of THOUGHTS) addThought(thoughts, field, said[field])
      const delta = [said['content'], said['refusal']].filter((part) => typeof part === 'string').join('')
      text += delta
      return delta
    },
    count(given) {
      if (!isObject(given)) return
      const { prompt_tokens: input, completion_tokens: output } = given
      usage = { ...(typeof input === 'number' && { input }), ...(typeof output === 'number' && { output }) }
    },
    get finished() { return finish !== undefined },
    reply: () => ({
      text,
      calls: calls.map(({ id = '', name, arguments: given, own }): ModelCall => ({ id, name, arguments: given, ...(Object.keys(own).length > 0 && { own }) })),
      finish: finish === 'length' || finish === 'content_filter' ? finish : 'stop',
      ...(usage && { usage }),
      ...(calls.length > 0 && Object.keys(thoughts).length > 0 && { own: thoughts }),
    }),
  }
}

// A piece belongs to the call of its index; where servers leave that out, or count every call as the first, the id tells.
function findCall(calls: readonly Call[], index: unknown, id: unknown): Call | undefined {
  const named = typeof id === 'string' && id !== ''
  const same = index === undefined ? calls.at(-1) : calls.findLast((call) => call.index === index)
  return same && named && same.id !== undefined && same.id !== id ? calls.find((call) => call.id === id) : same
}

function begin(calls: Call[], index: unknown): Call {
  const call: Call = { index, id: undefined, name: '', arguments: undefined, own: {} }
  calls.push(call)
  return call
}

function addThought(thoughts: { [field: string]: unknown }, field: string, piece: unknown): void {
  const before = thoughts[field]
  if (typeof piece === 'string' && piece !== '') thoughts[field] = `${typeof before === 'string' ? before : ''}${piece}`
  else if (Array.isArray(piece) && piece.length > 0) thoughts[field] = [...(Array.isArray(before) ? (before as readonly unknown[]) : []), ...(piece as readonly unknown[])]
}
