import type { Context } from '../../../contract/context.ts'
import type { JsonObject } from '../../../contract/json.ts'
import { isObject } from '../../../contract/json.ts'
import type { OpenChild } from '../../../process/open-child.ts'
import { readSampling } from '../../read-sampling.ts'
import { readOptions } from './read-options.ts'
import { replyTo } from './reply.ts'

/** Lets somebody answer what a child asks with `action_required`, and writes the answer to its stdin as one JSON line. Where nobody can, stdin is closed and the reason thrown, so that the child may go on or end as it likes. */
export async function answerQuestion(
  line: JsonObject,
  ctx: Context,
  child: OpenChild,
): Promise<void> {
  const context = isObject(line['context']) ? line['context'] : {}
  const id = context['id'] ?? line['id']
  try {
    const kind =
      typeof line['action'] === 'string' && Object.hasOwn(ASKERS, line['action'])
        ? line['action']
        : 'input'
    const answer = await ASKERS[kind]!(context, ctx, promptOf(line, context))
    await child.write(JSON.stringify(replyTo({ id, kind }, answer)))
  } catch (error) {
    child.closeInput()
    throw error
  }
}

type Asker = (context: JsonObject, ctx: Context, prompt: string) => Promise<unknown>

const ASKERS: { readonly [kind: string]: Asker } = {
  confirm: (context, ctx, prompt) =>
    ctx.ask({
      kind: 'confirm',
      prompt,
      ...common(context),
      ...(typeof context['default'] === 'boolean' && { default: context['default'] }),
    }),
  decision: (context, ctx, prompt) => {
    const options = readOptions(context['options'])
    if (options.length === 0) return ASKERS['input']!(context, ctx, prompt)
    const { default: preset } = context
    return ctx.ask({
      kind: 'decision',
      prompt,
      options,
      ...common(context),
      ...(typeof preset === 'string' && { default: preset }),
    })
  },
  input: ({ schema, default: preset, ...context }, ctx, prompt) =>
    ctx.ask({
      kind: 'input',
      prompt,
      ...common(context),
      ...(isObject(schema) && { schema }),
      ...(preset !== undefined && { default: preset }),
    }),
  sample: (context, ctx, prompt) =>
    ctx.sample(prompt, { ...common(context), ...readSampling(context) }),
}

function promptOf({ action }: JsonObject, context: JsonObject): string {
  if (typeof context['prompt'] === 'string' && context['prompt'] !== '') return context['prompt']
  const facts = JSON.stringify(context)
  return facts === '{}' ? String(action) : `${String(action)} ${facts}`
}

function common({ timeout, key }: JsonObject): {
  readonly timeout?: number
  readonly key?: string
} {
  return {
    ...(typeof timeout === 'number' && timeout > 0 && { timeout }),
    ...(typeof key === 'string' && /^[\w.-]{1,64}$/.test(key) && { key }),
  }
}
