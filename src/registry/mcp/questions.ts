import type { Root } from '../../contract/interaction.ts'
import { isObject } from '../../contract/json.ts'
import type { JsonObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { Asker } from './asker.ts'

/** Answers what a server asks for: `elicitation/create`, `sampling/createMessage` or `roots/list`. Throws ToolError where nobody can. */
export async function answerServer(
  method: string,
  params: JsonObject,
  asker: Asker,
  roots: 'none' | 'caller' | readonly Root[],
): Promise<JsonObject> {
  if (method === 'elicitation/create') return elicit(params, asker)
  if (method === 'sampling/createMessage') return complete(params, asker)
  if (method === 'roots/list') return { roots: Array.isArray(roots) ? roots : await asker.roots() }
  throw new ToolError('DEPENDENCY', `the server asks for '${method}', which nobody knows here`, {
    retryable: false,
  })
}

async function elicit(params: JsonObject, asker: Asker): Promise<JsonObject> {
  const prompt =
    typeof params['message'] === 'string' ? params['message'] : 'The server asks for an answer'
  try {
    if (params['mode'] === 'url')
      return consent(
        await asker.ask({
          kind: 'confirm',
          prompt: `${prompt}\nOpen ${webAddress(params['url'])} and finish there. Is it done?`,
        }),
      )
    const schema = isObject(params['requestedSchema']) ? params['requestedSchema'] : {}
    const hasFields = isObject(schema['properties']) && Object.keys(schema['properties']).length > 0
    if (!hasFields) return { ...consent(await asker.ask({ kind: 'confirm', prompt })), content: {} }
    const { $schema: _dialect, ...form } = schema
    return {
      action: 'accept',
      content: await asker.ask({
        kind: 'input',
        prompt,
        schema: { additionalProperties: false, ...form },
      }),
    }
  } catch (error) {
    const action = ToolError.is(error) ? error.details?.['action'] : undefined
    if (action === 'decline' || action === 'cancel') return { action }
    throw error
  }
}

function consent(agreed: boolean): { readonly action: 'accept' | 'decline' } {
  return { action: agreed ? 'accept' : 'decline' }
}

// An address that is opened by a program may be a command in disguise.
function webAddress(url: unknown): string {
  const parsed = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined
  if (!parsed || !['https:', 'http:'].includes(parsed.protocol))
    throw new ToolError('PERMISSION', 'the server wants an address opened that is no web address')
  return parsed.href
}

async function complete(params: JsonObject, asker: Asker): Promise<JsonObject> {
  const { messages, maxTokens, systemPrompt, temperature, stopSequences } = params
  const text = await asker.sample(promptOf(Array.isArray(messages) ? messages : []), {
    ...(typeof maxTokens === 'number' && { maxTokens }),
    ...(typeof systemPrompt === 'string' && { system: systemPrompt }),
    ...(typeof temperature === 'number' && { temperature }),
    ...(Array.isArray(stopSequences) && { stopSequences: stopSequences as string[] }),
  })
  return {
    role: 'assistant',
    content: { type: 'text', text },
    model: 'unknown',
    stopReason: 'endTurn',
  }
}

function promptOf(messages: readonly unknown[]): string {
  const texts = messages.map((message) => {
    const { role, content } = isObject(message) ? message : {}
    const blocks: readonly unknown[] = Array.isArray(content) ? content : [content]
    return {
      role: role === 'assistant' ? 'Assistant' : 'User',
      text: blocks.map(textOf).join('\n'),
    }
  })
  return texts.length === 1
    ? texts[0]!.text
    : texts.map(({ role, text }) => `${role}: ${text}`).join('\n\n')
}

function textOf(block: unknown): string {
  if (isObject(block) && block['type'] === 'text' && typeof block['text'] === 'string')
    return block['text']
  throw new ToolError(
    'DEPENDENCY',
    'the server wants a completion of something that is no text, and only texts can be completed here',
    { retryable: false },
  )
}
