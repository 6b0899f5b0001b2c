import { isObject, parseObject } from '../../../../contract/json.ts'
import type { JsonObject } from '../../../../contract/json.ts'
import type { ModelCall, ModelReply } from '../../model-type.ts'

/** Fields of a message that some servers want to see again with the calls that came with them. */
export const THOUGHTS = ['reasoning_content', 'reasoning_details']

/** Puts a reply together from its pieces, whole messages included. */
export type Assembly = {
  /** A choice as the server sent it: `{ delta }` or `{ message }`. Gives the text in it. */
  add(choice: JsonObject): string
  /** Takes `usage` of a chunk, where it has one. */
  count(usage: unknown): void
  /** True once the server has said why it stopped. */
  readonly finished: boolean
  /** False while a call has no arguments, or only the beginning of them. */
  readonly hasWholeCalls: boolean
  reply(): ModelReply
}

type Call = {
  readonly index: unknown
  id: string | undefined
  name: string
  arguments: unknown
  own: JsonObject
}

/** Starts with nothing. */
export function assemble(): Assembly {
  let text = ''
  let finish: unknown
  let usage: ModelReply['usage']
  const calls: Call[] = []
  const thoughts: { [field: string]: unknown } = {}

  const addCall = (delta: JsonObject, isWhole: boolean): void => {
    const { index, id, type: _type, function: called, ...own } = delta
    const { name, arguments: given } = isObject(called) ? called : {}
    const before = isWhole ? undefined : findCall(calls, index, id)
    const call = before && !isAnother(before, name, given) ? before : begin(calls, index)
    if (typeof id === 'string' && id !== '') call.id = id
    // Some servers repeat the name in every piece.
    if (typeof name === 'string' && name !== call.name) call.name += name
    if (isObject(given)) call.arguments = given
    else if (typeof given === 'string')
      call.arguments = `${typeof call.arguments === 'string' ? call.arguments : ''}${given}`
    call.own = { ...call.own, ...own }
  }

  return {
    add(choice) {
      const isWhole = !isObject(choice['delta'])
      const said = [choice['delta'], choice['message']].find(isObject) ?? {}
      if (typeof choice['finish_reason'] === 'string' && choice['finish_reason'] !== '')
        finish = choice['finish_reason']
      if (Array.isArray(said['tool_calls']))
        for (const call of said['tool_calls'].filter(isObject)) addCall(call, isWhole)
      for (const field of THOUGHTS) addThought(thoughts, field, said[field])
      const delta = textOf(said['content']) + textOf(said['refusal'])
      text += delta
      return delta
    },
    count(given) {
      if (!isObject(given)) return
      const { prompt_tokens: input, completion_tokens: output } = given
      usage = {
        ...(typeof input === 'number' && { input }),
        ...(typeof output === 'number' && { output }),
      }
    },
    get finished() {
      return finish !== undefined
    },
    get hasWholeCalls() {
      return calls.every(({ arguments: given }) => isWholeObject(given))
    },
    reply: () => ({
      text,
      calls: calls.map(({ id = '', name, arguments: given, own }): ModelCall => ({
        id,
        name,
        arguments: given,
        ...(Object.keys(own).length > 0 && { own }),
      })),
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
  return same && named && same.id !== undefined && same.id !== id
    ? calls.find((call) => call.id === id)
    : same
}

// A call whose arguments are whole is over: more of them are of another call, whatever index or id they come with.
function isAnother(call: Call, name: unknown, given: unknown): boolean {
  return (
    typeof name === 'string' &&
    name !== '' &&
    (isObject(given) || (typeof given === 'string' && given.trim() !== '')) &&
    isWholeObject(call.arguments)
  )
}

function isWholeObject(given: unknown): boolean {
  return (
    isObject(given) ||
    (typeof given === 'string' && given.trimEnd().endsWith('}') && parseObject(given) !== undefined)
  )
}

// A text, or a list of parts of which some are text.
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return Array.isArray(content)
    ? content
        .map((part: unknown) =>
          isObject(part) && part['type'] === 'text' && typeof part['text'] === 'string'
            ? part['text']
            : '',
        )
        .join('')
    : ''
}

function begin(calls: Call[], index: unknown): Call {
  const call: Call = { index, id: undefined, name: '', arguments: undefined, own: {} }
  calls.push(call)
  return call
}

function addThought(thoughts: { [field: string]: unknown }, field: string, piece: unknown): void {
  const before = thoughts[field]
  if (typeof piece === 'string' && piece !== '')
    thoughts[field] = `${typeof before === 'string' ? before : ''}${piece}`
  else if (Array.isArray(piece) && piece.length > 0)
    thoughts[field] = [
      ...(Array.isArray(before) ? (before as readonly unknown[]) : []),
      ...(piece as readonly unknown[]),
    ]
}
