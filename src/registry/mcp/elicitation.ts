/**
 * Answers what a server asks during a call: elicitation, sampling and roots.
 */

import type { ReadingContext } from '../../protocol/context.ts'
import type { Root } from '../../protocol/events.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { delay } from '../../util/async.ts'
import type { JsonObject } from '../../util/values.ts'
import { asList, asObject, asText, compact, isObject } from '../../util/values.ts'

/**
 * Answers a request of a server: `elicitation/create`, `sampling/createMessage` or `roots/list`.
 * Throws ToolError when there is no answer.
 */
export async function answerServerRequest(
  method: string,
  params: JsonObject,
  asker: ServerAsker,
  roots: 'none' | 'caller' | readonly Root[],
): Promise<JsonObject> {
  if (method === 'elicitation/create') return answerElicitation(params, asker)
  if (method === 'sampling/createMessage') return answerSampling(params, asker)
  if (method === 'roots/list') return { roots: Array.isArray(roots) ? roots : await asker.roots() }
  throw new ToolError('DEPENDENCY', `the server asks for '${method}', which nobody knows here`, {
    retryable: false,
  })
}

async function answerElicitation(params: JsonObject, asker: ServerAsker): Promise<JsonObject> {
  const prompt = asText(params['message']) ?? 'The server asks for an answer'
  try {
    if (params['mode'] === 'url')
      return toConsent(
        await asker.ask({
          kind: 'confirm',
          prompt: `${prompt}\nOpen ${requireWebAddress(params['url'])} and finish there. Is it done?`,
        }),
      )
    const schema = asObject(params['requestedSchema']) ?? {}
    if (Object.keys(asObject(schema['properties']) ?? {}).length === 0)
      return { ...toConsent(await asker.ask({ kind: 'confirm', prompt })), content: {} }
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

function toConsent(agreed: boolean): { readonly action: 'accept' | 'decline' } {
  return { action: agreed ? 'accept' : 'decline' }
}

// An address that a program opens may be a command in disguise.
function requireWebAddress(url: unknown): string {
  const parsed = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined
  if (!parsed || !['https:', 'http:'].includes(parsed.protocol))
    throw new ToolError('PERMISSION', 'the server wants an address opened that is no web address')
  return parsed.href
}

async function answerSampling(params: JsonObject, asker: ServerAsker): Promise<JsonObject> {
  const { messages, maxTokens, systemPrompt, temperature, stopSequences } = params
  const text = await asker.sample(
    toSamplingPrompt(asList(messages)),
    compact({
      maxTokens: typeof maxTokens === 'number' ? maxTokens : undefined,
      system: asText(systemPrompt),
      temperature: typeof temperature === 'number' ? temperature : undefined,
      stopSequences: Array.isArray(stopSequences) ? (stopSequences as string[]) : undefined,
    }),
  )
  return {
    role: 'assistant',
    content: { type: 'text', text },
    model: 'unknown',
    stopReason: 'endTurn',
  }
}

function toSamplingPrompt(messages: readonly unknown[]): string {
  const texts = messages.map((message) => {
    const { role, content } = asObject(message) ?? {}
    const blocks: readonly unknown[] = Array.isArray(content) ? content : [content]
    return {
      role: role === 'assistant' ? 'Assistant' : 'User',
      text: blocks.map(readTextBlock).join('\n'),
    }
  })
  return texts.length === 1
    ? texts[0]!.text
    : texts.map(({ role, text }) => `${role}: ${text}`).join('\n\n')
}

function readTextBlock(block: unknown): string {
  if (isObject(block) && block['type'] === 'text' && typeof block['text'] === 'string')
    return block['text']
  throw new ToolError(
    'DEPENDENCY',
    'the server wants a completion of something that is no text, and only texts can be completed here',
    { retryable: false },
  )
}

const MAX_INPUT_ROUNDS = 20
const ROUND_PAUSE_MS = 250

/** Parameters of a request that is sent again. */
type InputResponses = { readonly inputResponses?: JsonObject; readonly requestState?: string }

/**
 * Sends a request until the server needs no more input. Each question is answered by the call that
 * it belongs to.
 */
export async function sendWithInputRounds<T>(
  asker: ServerAsker,
  roots: 'none' | 'caller' | readonly Root[],
  send: (answers: InputResponses) => Promise<T>,
): Promise<T> {
  let answers: InputResponses = {}
  for (let round = 0; round < MAX_INPUT_ROUNDS; round += 1) {
    const result = await send(answers)
    if (!isObject(result) || result['resultType'] !== 'input_required') return result
    const { inputRequests, requestState }: JsonObject = result
    const inputResponses: { [key: string]: JsonObject } = Object.create(null) as {}
    // One after the other: a person is asked one thing at a time.
    for (const [key, request] of Object.entries(asObject(inputRequests) ?? {})) {
      const { method, params } = asObject(request) ?? {}
      inputResponses[key] = await answerServerRequest(
        String(method),
        asObject(params) ?? {},
        asker,
        roots,
      )
    }
    const hasAnswered = Object.keys(inputResponses).length > 0
    if (!hasAnswered) await delay(ROUND_PAUSE_MS)
    answers = compact({
      inputResponses: hasAnswered ? inputResponses : undefined,
      requestState: asText(requestState),
    })
  }
  throw new ToolError(
    'DEPENDENCY',
    `the server asked ${MAX_INPUT_ROUNDS} times and still wants to know more`,
    { retryable: false },
  )
}

/** What a running call can do for its server: ask, sample, list roots, log. */
export type ServerAsker = Pick<ReadingContext, 'ask' | 'sample' | 'roots' | 'log' | 'signal'>
