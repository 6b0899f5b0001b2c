import { closest } from '../contract/did-you-mean.ts'
import { toMilliseconds } from '../contract/duration.ts'
import { isObject } from '../contract/json.ts'
import type { Outcome } from '../contract/outcome.ts'
import { shorten } from '../contract/shorten.ts'
import { ToolError } from '../contract/tool-error.ts'
import { toBase64 } from '../define/content.ts'
import { lookupKey } from '../define/names.ts'
import type { Prompt, PromptText } from '../define/prompt.ts'
import type { Resource } from '../define/resource.ts'
import { checkContent } from './check-content.ts'
import { describeFailure } from './describe-failure.ts'
import { withoutExit } from './exit-guard.ts'
import { buildMeta } from './finish.ts'
import type { Identity } from './finished.ts'
import { host } from './host.ts'
import { toJsonValue } from './json-value.ts'
import type { CallOptions, ServedCallOptions } from './options.ts'
import { createReadingContext } from './reading-context.ts'
import { runCall } from './running.ts'
import type { RunningCall } from './running.ts'

/** Reads the resource that an address names; never throws. */
export function readResource(
  resources: readonly Resource[],
  uri: string,
  options: CallOptions = {},
  identity: Identity = {},
): Promise<Outcome> {
  return answer('resource', options, identity, async (call) => {
    if (typeof uri !== 'string')
      throw new ToolError('INVALID_INPUT', 'the address of a resource is a text', { field: 'uri' })
    for (const resource of resources) {
      const params = resource.match(uri)
      if (params)
        return resourceJson(
          await resource.read(
            params,
            createReadingContext(`resource '${resource.manifest.uri}'`, options, call),
          ),
        )
    }
    const known = resources.map(({ manifest }) => manifest.uri)
    throw new ToolError('NOT_FOUND', `no resource matches '${shorten(uri, 100)}'`, {
      details: { resources: known },
      suggestion:
        known.length > 0
          ? `The resources are ${known.join(', ')}`
          : 'This program has no resources',
    })
  })
}

/** Renders the named prompt; never throws. */
export function renderPrompt(
  prompts: readonly Prompt[],
  name: string,
  args: unknown,
  options: CallOptions = {},
  identity: Identity = {},
): Promise<Outcome<PromptText>> {
  return answer('prompt', options, identity, async (call) => {
    if (typeof name !== 'string')
      throw new ToolError('INVALID_INPUT', 'the name of a prompt is a text', { field: 'name' })
    const prompt = prompts.find((candidate) => lookupKey(candidate.name) === lookupKey(name))
    if (!prompt) {
      const meant = closest(
        name,
        prompts.map((candidate) => candidate.name),
      )
      throw new ToolError(
        'NOT_FOUND',
        `there is no prompt '${shorten(name, 100)}'${meant ? `; did you mean '${meant}'?` : ''}`,
        { details: { prompts: prompts.map((candidate) => candidate.name) } },
      )
    }
    const checked = await (await prompt.arguments()).check(args ?? {})
    if (!checked.ok)
      throw (await import('../define/schema/issues.ts')).issuesToError(checked.issues, {
        input: args,
      })
    return checkText(
      prompt.name,
      await prompt.render(
        checked.value,
        createReadingContext(`prompt '${prompt.name}'`, options, call),
      ),
    )
  }) as Promise<Outcome<PromptText>>
}

/** Runs what is no tool like a call: with deadline, cancellation and guard; gives its JSON form. Never throws. */
export async function answer(
  tool: string,
  options: ServedCallOptions,
  identity: Identity,
  work: (call: RunningCall) => Promise<unknown>,
): Promise<Outcome> {
  const startedAt = host.clock()
  const name = identity.toolset === undefined ? tool : `${identity.toolset}.${tool}`
  const meta = (warnings: readonly string[] = []) =>
    buildMeta({
      tool: name,
      version: identity.version,
      startedAt,
      dryRun: false,
      warnings,
      caller: options.caller,
      artifacts: [],
    })
  try {
    const result = await runCall(options.cancellation ?? options.signal, (call) => {
      if (options.timeout !== undefined)
        call.limitTo(toMilliseconds(options.timeout, 'timeout'), 'caller')
      return withoutExit(call, () => work(call))
    })
    const { value, warnings } = toJsonValue(result)
    return { ok: true, status: 'success', result: value, meta: meta(warnings) }
  } catch (error) {
    return { ok: false, status: 'error', error: describeFailure(error).object, meta: meta() }
  }
}

function checkText(name: string, text: unknown): unknown {
  if (typeof text === 'string') return text
  const isMessages =
    Array.isArray(text) &&
    text.every(
      (message) =>
        isObject(message) &&
        typeof message['role'] === 'string' &&
        message['content'] !== undefined,
    )
  if (!isMessages)
    throw new ToolError('INTERNAL', `prompt '${name}' rendered neither text nor messages`, {
      suggestion: {
        action: 'abort',
        fix: 'The author of the prompt should return a string or a list of { role, content }',
      },
    })
  return (text as readonly { readonly content: unknown }[]).map((message) => {
    if (typeof message.content === 'string') return message
    const blocks = checkContent(`prompt '${name}'`, message.content)
    return { ...message, content: Array.isArray(message.content) ? blocks : blocks[0] }
  })
}

function resourceJson(content: unknown): unknown {
  if (content instanceof Uint8Array)
    return { mimeType: 'application/octet-stream', blob: toBase64(content) }
  if (isObject(content) && content['blob'] instanceof Uint8Array)
    return { ...content, blob: toBase64(content['blob']) }
  return content
}
