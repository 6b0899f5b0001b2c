import type { Prompt as ServerPrompt } from '@modelcontextprotocol/client'
import type { ContentBlock } from '../../contract/content.ts'
import { contentProblem } from '../../contract/content-problem.ts'
import type { ReadingContext } from '../../contract/context.ts'
import { LONGEST_TIMER_MS } from '../../contract/duration.ts'
import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'
import { prompt } from '../../define/prompt.ts'
import type { Prompt, PromptMessage } from '../../define/prompt.ts'
import { summaryOf } from '../foreign/summary.ts'
import type { Reading } from './resources.ts'
import { inRounds } from './rounds.ts'

/** Prompts of a server as prompts of ours, rendered by it when they are wanted. */
export function readPrompts(prompts: readonly ServerPrompt[], reading: Reading): readonly Prompt[] {
  const taken = new Set<string>()
  return prompts.flatMap((given) => {
    const { name, title, description } = given
    try {
      const names = (given.arguments ?? []).map((argument) => argument.name)
      return [
        prompt<JsonSchema>({
          name: freeName(name, taken),
          summary: summaryOf(name, {
            ...(description !== undefined && { description }),
            ...(title !== undefined && { title }),
          }),
          ...(title !== undefined && title.trim() !== '' && { title }),
          arguments: schemaOf(given),
          render: (args, ctx) =>
            render(name, args as { readonly [name: string]: string }, ctx, reading),
          ...(reading.completes &&
            names.length > 0 && {
              complete: Object.fromEntries(
                names.map((argument) => [argument, completer(name, argument, reading)]),
              ),
            }),
        }),
      ]
    } catch (error) {
      reading.tell(
        'prompt',
        `prompt '${name}' of MCP server '${reading.settings.name}' cannot be used: ${(error as Error).message}`,
        'Its author should mend it',
      )
      return []
    }
  })
}

// Names of prompts are those of ours: small letters, digits, '_' and '-'.
function freeName(name: string, taken: Set<string>): string {
  const plain =
    name
      .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
      .toLowerCase()
      .replace(/[^a-z0-9_-]+/g, '_')
      .replace(/^_+|_+$/g, '')
      .slice(0, 60) || 'prompt'
  let free = plain
  for (let count = 2; taken.has(free.replaceAll('-', '_')); count += 1) free = `${plain}_${count}`
  taken.add(free.replaceAll('-', '_'))
  return free
}

function schemaOf({ arguments: given = [] }: ServerPrompt): JsonSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(
      given.map(({ name, description }) => [
        name,
        { type: 'string', ...(description !== undefined && { description }) },
      ]),
    ),
    required: given.filter(({ required }) => required === true).map(({ name }) => name),
    additionalProperties: false,
  }
}

function completer(
  prompt: string,
  argument: string,
  { connection, settings }: Reading,
): (value: string, others: { readonly [name: string]: string }) => Promise<readonly string[]> {
  return (value, others) =>
    connection.with(
      async ({ client }) =>
        (
          await client.complete(
            {
              ref: { type: 'ref/prompt', name: prompt },
              argument: { name: argument, value },
              context: { arguments: { ...others } },
            },
            { timeout: settings.startTimeout },
          )
        ).completion.values,
    )
}

async function render(
  name: string,
  args: { readonly [name: string]: string },
  ctx: ReadingContext,
  { connection, settings }: Reading,
): Promise<readonly PromptMessage[]> {
  const messages = await connection.use(`prompt '${name}'`, ctx, ({ client }, { signal, asker }) =>
    inRounds(asker, settings.roots, async (answers) => {
      const result: unknown = await client.getPrompt(
        { name, arguments: { ...args }, ...answers },
        { signal, timeout: LONGEST_TIMER_MS, allowInputRequired: true },
      )
      return isObject(result) && Array.isArray(result['messages'])
        ? (result['messages'] as readonly unknown[])
        : result
    }),
  )
  return (Array.isArray(messages) ? messages : []).filter(isObject).map(({ role, content }) => {
    const block = content as ContentBlock
    const shown: string | ContentBlock =
      contentProblem(block) === undefined
        ? block.type === 'text'
          ? block.text
          : block
        : JSON.stringify(block)
    return { role: role === 'assistant' ? 'assistant' : 'user', content: shown }
  })
}
