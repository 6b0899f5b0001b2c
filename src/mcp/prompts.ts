/**
 * `prompts/list`, `prompts/get` and `completion/complete`.
 */

import { toLookupKey } from '../core/call.ts'
import type { Prompt, PromptText } from '../define/prompt.ts'
import type { Resource } from '../define/resource.ts'
import type { ContentBlock } from '../protocol/outcome.ts'
import { shorten } from '../util/text.ts'
import { compact, isObject } from '../util/values.ts'
import type { McpMethod } from './method.ts'
import { followRequest, requireTextParam, toListResult, toReadError } from './method.ts'
import type { RpcParams } from './protocol.ts'
import { RPC_CODES, RpcError } from './protocol.ts'
import type { McpServer } from './server-types.ts'

export const listPrompts: McpMethod = async (server, params, exchange) => {
  const { prompts } = server.source.set
  const manifests = await Promise.all(prompts.map((prompt) => prompt.manifest()))
  const listed = manifests.map(({ name, title, summary, arguments: given }) =>
    compact({ name, title, description: summary, arguments: given.length > 0 ? given : undefined }),
  )
  return toListResult('prompts', listed, 'name', { server, params, exchange })
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
        const prompt = findPrompt(server, name)
        if (!prompt)
          throw new RpcError(RPC_CODES.invalidParams, `there is no prompt '${shorten(name, 100)}'`)
        const args = await parsePromptArguments(prompt, params)
        const outcome = await server.source.set.renderPrompt(name, args, options)
        if (!outcome.ok) {
          const notFound = { code: RPC_CODES.invalidParams, message: outcome.error.message }
          return { error: toReadError(outcome, call, notFound) }
        }
        const { summary } = await prompt.manifest()
        return { result: { description: summary, messages: toPromptMessages(outcome.result) } }
      },
    },
    exchange,
  )
}

function findPrompt({ source }: McpServer, name: string): Prompt | undefined {
  return source.set.prompts.find((prompt) => toLookupKey(prompt.name) === toLookupKey(name))
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
  const { name, value } = isObject(argument) ? argument : {}
  if (!isObject(ref) || typeof name !== 'string' || typeof value !== 'string')
    throw new RpcError(
      RPC_CODES.invalidParams,
      'completion needs ref, argument.name and argument.value',
    )
  const others =
    isObject(context) && isObject(context['arguments']) ? pickTextFields(context['arguments']) : {}
  const values = await findCompletable(server, ref).complete(name, value, others)
  return {
    completion: {
      values: values.slice(0, MAX_COMPLETION_VALUES),
      total: values.length,
      hasMore: values.length > MAX_COMPLETION_VALUES,
    },
  }
}

function findCompletable(server: McpServer, ref: RpcParams): Prompt | Resource {
  const { type, name, uri } = ref
  const found =
    (type === 'ref/prompt' && findPrompt(server, String(name))) ||
    (type === 'ref/resource' &&
      server.source.set.resources.find(({ manifest }) => manifest.uri === uri))
  if (found) return found
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
