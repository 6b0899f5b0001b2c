import type { ContentBlock } from '../../../contract/content.ts'
import { isObject } from '../../../contract/json.ts'
import { shorten } from '../../../contract/shorten.ts'
import { lookupKey } from '../../../define/names.ts'
import type { Prompt, PromptText } from '../../../define/prompt.ts'
import { page } from '../catalogue/pages.ts'
import { RPC, RpcError } from '../wire/messages.ts'
import type { Params } from '../wire/messages.ts'
import { readFailure } from './failures.ts'
import { follow } from './follow.ts'
import { cacheable, textParam } from './method.ts'
import type { Method } from './method.ts'

export const listPrompts: Method = async (server, params, exchange) => {
  const manifests = await Promise.all(server.source.prompts().map((prompt) => prompt.manifest()))
  const { items, nextCursor } = page(manifests, ({ name }) => name, params, server.options.pageSize)
  const prompts = items.map(({ name, title, summary, arguments: given }) => ({
    name,
    ...(title !== undefined && { title }),
    description: summary,
    ...(given.length > 0 && { arguments: given }),
  }))
  return cacheable({ prompts, ...(nextCursor !== undefined && { nextCursor }) }, exchange)
}

export const getPrompt: Method = (server, params, exchange) => {
  const name = textParam(params, 'name')
  return follow(
    server,
    {
      method: 'prompts/get',
      params,
      what: name,
      async work(options, call) {
        const prompt = server.source
          .prompts()
          .find((candidate) => lookupKey(candidate.name) === lookupKey(name))
        if (!prompt)
          throw new RpcError(RPC.invalidParams, `there is no prompt '${shorten(name, 100)}'`)
        const outcome = await server.source.renderPrompt(
          name,
          await readArguments(prompt, params),
          options,
        )
        if (!outcome.ok)
          return {
            error: readFailure(outcome, call, {
              code: RPC.invalidParams,
              message: outcome.error.message,
            }),
          }
        return {
          result: {
            description: (await prompt.manifest()).summary,
            messages: messages(outcome.result),
          },
        }
      },
    },
    exchange,
  )
}

// Arguments travel as texts; what they mean is said by the prompt's schema.
async function readArguments(prompt: Prompt, { arguments: given }: Params): Promise<unknown> {
  if (given === undefined) return {}
  if (!isObject(given) || Object.values(given).some((value) => typeof value !== 'string'))
    throw new RpcError(RPC.invalidParams, 'params.arguments is an object of texts')
  const [{ coerceText }, schema] = await Promise.all([
    import('../../../define/schema/coerce.ts'),
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
function messages(text: PromptText): object[] {
  if (typeof text === 'string') return [{ role: 'user', content: { type: 'text', text } }]
  return text.flatMap(({ role, content }) =>
    blocks(content).map((block) => ({
      role: role === 'assistant' ? 'assistant' : 'user',
      content: block,
    })),
  )
}

function blocks(content: string | ContentBlock | readonly ContentBlock[]): readonly ContentBlock[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? (content as readonly ContentBlock[]) : [content as ContentBlock]
}
