import { isObject } from '../../../contract/json.ts'
import { lookupKey } from '../../../define/names.ts'
import type { McpServer } from '../server-type.ts'
import { RPC, RpcError } from '../wire/messages.ts'
import type { Params } from '../wire/messages.ts'
import type { Method } from './method.ts'

const MOST_VALUES = 100

/** Offers values for an argument of a prompt or a placeholder of a resource. */
export const complete: Method = async (server, params) => {
  const { ref, argument, context } = params
  if (
    !isObject(ref) ||
    !isObject(argument) ||
    typeof argument['name'] !== 'string' ||
    typeof argument['value'] !== 'string'
  )
    throw new RpcError(RPC.invalidParams, 'completion needs ref, argument.name and argument.value')
  const others =
    isObject(context) && isObject(context['arguments']) ? textsOf(context['arguments']) : {}
  const values = await completerOf(server, ref)(argument['name'], argument['value'], others)
  return {
    completion: {
      values: values.slice(0, MOST_VALUES),
      total: values.length,
      hasMore: values.length > MOST_VALUES,
    },
  }
}

type Completer = (
  name: string,
  value: string,
  others: { readonly [name: string]: string },
) => Promise<readonly string[]>

function completerOf({ source }: McpServer, ref: Params): Completer {
  const { type, name, uri } = ref
  if (type === 'ref/prompt') {
    const prompt = source
      .prompts()
      .find((candidate) => lookupKey(candidate.name) === lookupKey(String(name)))
    if (prompt) return (argument, value, others) => prompt.complete(argument, value, others)
  } else if (type === 'ref/resource') {
    const resource = source.resources().find(({ manifest }) => manifest.uri === uri)
    if (resource) return (argument, value, others) => resource.complete(argument, value, others)
  }
  throw new RpcError(
    RPC.invalidParams,
    `there is nothing to complete for ${JSON.stringify(ref).slice(0, 200)}`,
  )
}

function textsOf(given: Params): { readonly [name: string]: string } {
  return Object.fromEntries(
    Object.entries(given).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  )
}
