/**
 * `prompts/list`, `prompts/get` and `completion/complete`.
 */

import { toLookupKey } from '../core/call.ts'
import type { Prompt, PromptText } from '../define/prompt.ts'
import type { ContentBlock } from '../protocol/outcome.ts'
import { shorten } from '../util/text.ts'
import { compact, isObject } from '../util/values.ts'
import type { McpMethod } from './method.ts'
import { addCacheHints, followRequest, paginate, requireTextParam, toReadError } from './method.ts'
import type { RpcParams } from './protocol.ts'
import { RPC_CODES, RpcError } from './protocol.ts'
import type { McpServer } from './server-types.ts'

export const listPrompts: McpMethod = async (server, params, exchange) => {
  const manifests = await Promise.all(server.source.prompts().map((prompt) => prompt.manifest()))
  const { items, nextCursor } = paginate(
    manifests,
    ({ name }) => name,
    params,
    server.options.pageSize,
  )
  const prompts = items.map(({ name, title, summary, arguments: given }) =>
    compact({ name, title, description: summary, arguments: given.length > 0 ? given : undefined }),
  )
  return addCacheHints(compact({ prompts, nextCursor }), exchange)
}

export const getPrompt: McpMethod = (server, params, exchange) => {
  const name = requireTextParam(params, 'name')
  return followRequest(
    server,
    {
      method: 'prompts/get',
      params,
      what: name,
      async work(options, call) {
        const prompt = server.source
          .prompts()
          .find((candidate) => toLookupKey(candidate.name) === toLookupKey(name))
        if (!prompt)
          throw new RpcError(RPC_CODES.invalidParams, `there is no prompt '${shorten(name, 100)}'`)
        const outcome = await server.source.renderPrompt(
          name,
          await parsePromptArguments(prompt, params),
          options,
        )
        if (!outcome.ok)
          return {
            error: toReadError(outcome, call, {
              code: RPC_CODES.invalidParams,
              message: outcome.error.message,
            }),
          }
        return {
          result: {
            description: (await prompt.manifest()).summary,
            messages: toPromptMessages(outcome.result),
          },
        }
      },
    },
    exchange,
  )
}

// Arguments travel as texts; what they mean is said by the prompt's schema.
async function parsePromptArguments(
  prompt: Prompt,
  { arguments: given }: RpcParams,
): Promise<unknown> {
  if (given === undefined) return {}
  if (!isObject(given) || Object.values(given).some((value) => typeof value !== 'string'))
    throw new RpcError(RPC_CODES.invalidParams, 'params.arguments is an object of texts')
  const [{ coerceText }, schema] = await Promise.all([
    import('../define/flag-input.ts'),
    prompt.arguments(),
  ])
  const properties = isObject(schema.json['properties']) ? schema.json['properties'] : {}
  return Object.fromEntries(
    Object.entries(given as { readonly [name: string]: string }).map(([name, text]) => {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined
      const read = isObject(property) ? coerceText(property, text) : undefined
      // What cannot be read is left for the check, which says it better.
      return [name, read?.ok ? read.value : text]
    }),
  )
}

// A message has one piece of content, and models know two roles.
function toPromptMessages(text: PromptText): object[] {
  if (typeof text === 'string') return [{ role: 'user', content: { type: 'text', text } }]
  return text.flatMap(({ role, content }) =>
    toContentBlocks(content).map((block) => ({
      role: role === 'assistant' ? 'assistant' : 'user',
      content: block,
    })),
  )
}

function toContentBlocks(
  content: string | ContentBlock | readonly ContentBlock[],
): readonly ContentBlock[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? (content as readonly ContentBlock[]) : [content as ContentBlock]
}

const MAX_COMPLETION_VALUES = 100

/** Offers values for an argument of a prompt or a placeholder of a resource. */
export const completeArgument: McpMethod = async (server, params) => {
  const { ref, argument, context } = params
  if (
    !isObject(ref) ||
    !isObject(argument) ||
    typeof argument['name'] !== 'string' ||
    typeof argument['value'] !== 'string'
  )
    throw new RpcError(
      RPC_CODES.invalidParams,
      'completion needs ref, argument.name and argument.value',
    )
  const others =
    isObject(context) && isObject(context['arguments']) ? pickTextFields(context['arguments']) : {}
  const values = await findCompleter(server, ref)(argument['name'], argument['value'], others)
  return {
    completion: {
      values: values.slice(0, MAX_COMPLETION_VALUES),
      total: values.length,
      hasMore: values.length > MAX_COMPLETION_VALUES,
    },
  }
}

type ArgumentCompleter = (
  name: string,
  value: string,
  others: { readonly [name: string]: string },
) => Promise<readonly string[]>

function findCompleter({ source }: McpServer, ref: RpcParams): ArgumentCompleter {
  const { type, name, uri } = ref
  if (type === 'ref/prompt') {
    const prompt = source
      .prompts()
      .find((candidate) => toLookupKey(candidate.name) === toLookupKey(String(name)))
    if (prompt) return (argument, value, others) => prompt.complete(argument, value, others)
  } else if (type === 'ref/resource') {
    const resource = source.resources().find(({ manifest }) => manifest.uri === uri)
    if (resource) return (argument, value, others) => resource.complete(argument, value, others)
  }
  throw new RpcError(
    RPC_CODES.invalidParams,
    `there is nothing to complete for ${JSON.stringify(ref).slice(0, 200)}`,
  )
}

function pickTextFields(given: RpcParams): { readonly [name: string]: string } {
  return Object.fromEntries(
    Object.entries(given).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  )
}
