/**
 * Reading resources, listing them and rendering prompts. They run like calls: with deadline,
 * cancellation and questions, but without state and guards.
 */

import type { Prompt, PromptText } from '../define/prompt.ts'
import type { ListedResource, Resource } from '../define/resource.ts'
import { toBase64 } from '../define/results.ts'
import type { ReadingContext } from '../protocol/context.ts'
import { toMilliseconds } from '../protocol/limits.ts'
import type { Outcome } from '../protocol/outcome.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { describeUnknownName, shorten } from '../util/text.ts'
import { compact, isObject } from '../util/values.ts'
import { runWithExitGuard } from './call-scope.ts'
import type { CallIdentity, CallOptions, ServerCallOptions } from './call.ts'
import { toLookupKey } from './call.ts'
import { createAuthorError } from './errors.ts'
import { emitEvent } from './events.ts'
import { host } from './host.ts'
import { toJsonValue } from './json-value.ts'
import type { RunningCall } from './lifecycle.ts'
import { runCall } from './lifecycle.ts'
import { createQuestions } from './questions.ts'
import { buildOutcomeMeta, describeFailure, validateContent } from './result.ts'

/** Reads the resource that an address names; never throws. */
export function readResource(
  resources: readonly Resource[],
  uri: string,
  options: CallOptions = {},
  identity: CallIdentity = {},
): Promise<Outcome> {
  return runAsCall('resource', options, identity, async (call) => {
    if (typeof uri !== 'string')
      throw new ToolError('INVALID_INPUT', 'the address of a resource is a text', { field: 'uri' })
    for (const resource of resources) {
      const params = resource.match(uri)
      if (params)
        return toResourceJson(
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
  identity: CallIdentity = {},
): Promise<Outcome<PromptText>> {
  return runAsCall('prompt', options, identity, async (call) => {
    if (typeof name !== 'string')
      throw new ToolError('INVALID_INPUT', 'the name of a prompt is a text', { field: 'name' })
    const prompt = prompts.find((candidate) => toLookupKey(candidate.name) === toLookupKey(name))
    if (!prompt) {
      const names = prompts.map((candidate) => candidate.name)
      const { message } = describeUnknownName('prompt', name, names)
      throw new ToolError('NOT_FOUND', message, { details: { prompts: names } })
    }
    const checked = await (await prompt.arguments()).check(args ?? {})
    if (!checked.ok)
      throw (await import('../define/schema/issues.ts')).issuesToError(checked.issues, {
        input: args,
      })
    return validatePromptText(
      prompt.name,
      await prompt.render(
        checked.value,
        createReadingContext(`prompt '${prompt.name}'`, options, call),
      ),
    )
  }) as Promise<Outcome<PromptText>>
}

/**
 * Runs what is no tool like a call: with deadline, cancellation and guard; gives its JSON form.
 * Never throws.
 */
async function runAsCall(
  tool: string,
  options: ServerCallOptions,
  identity: CallIdentity,
  work: (call: RunningCall) => Promise<unknown>,
): Promise<Outcome> {
  const startedAt = host.clock()
  const name = identity.toolset === undefined ? tool : `${identity.toolset}.${tool}`
  const meta = (warnings: readonly string[] = []) =>
    buildOutcomeMeta({
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
        call.setDeadline(toMilliseconds(options.timeout, 'timeout'), 'caller')
      return runWithExitGuard(call, () => work(call))
    })
    const { value, warnings } = toJsonValue(result)
    return { ok: true, status: 'success', result: value, meta: meta(warnings) }
  } catch (error) {
    return { ok: false, status: 'error', error: describeFailure(error).object, meta: meta() }
  }
}

function validatePromptText(name: string, text: unknown): unknown {
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
    throw createAuthorError(
      `prompt '${name}' rendered neither text nor messages`,
      'The author of the prompt should return a string or a list of { role, content }',
    )
  return (text as readonly { readonly content: unknown }[]).map((message) => {
    if (typeof message.content === 'string') return message
    const blocks = validateContent(`prompt '${name}'`, message.content)
    return { ...message, content: Array.isArray(message.content) ? blocks : blocks[0] }
  })
}

function toResourceJson(content: unknown): unknown {
  if (content instanceof Uint8Array)
    return { mimeType: 'application/octet-stream', blob: toBase64(content) }
  if (isObject(content) && content['blob'] instanceof Uint8Array)
    return { ...content, blob: toBase64(content['blob']) }
  return content
}

/** The addresses that can be read right now, each once; never throws. */
export function listResources(
  resources: readonly Resource[],
  options: CallOptions = {},
  identity: CallIdentity = {},
): Promise<Outcome<readonly ListedResource[]>> {
  return runAsCall('resources', options, identity, async (call) => {
    const lists = await Promise.all(
      resources.map((resource) => listResource(resource, options, call)),
    )
    const seen = new Set<string>()
    return lists.flat().filter(({ uri }) => !seen.has(uri) && seen.add(uri))
  }) as Promise<Outcome<readonly ListedResource[]>>
}

async function listResource(
  { manifest, list }: Resource,
  options: CallOptions,
  call: RunningCall,
): Promise<ListedResource[]> {
  const {
    uri,
    name,
    title,
    summary,
    mimeTypes: [mimeType],
  } = manifest
  const common = compact({ description: summary, mimeType })
  if (!list) return uri.includes('{') ? [] : [{ uri, ...compact({ name, title }), ...common }]
  const asker = `resource '${uri}'`
  const found: ListedResource[] = []
  for await (const listed of (await list(
    createReadingContext(asker, options, call),
  )) as AsyncIterable<unknown>) {
    if (call.isOver) break
    if (!isObject(listed) || typeof listed['uri'] !== 'string')
      throw createAuthorError(
        `${asker} lists something without an address`,
        'The author of the resource should list { uri, name }',
      )
    found.push({ ...common, ...(listed as ListedResource) })
  }
  return found
}

/** Builds what a resource or a prompt gets besides its parameters; `asker` names it in messages. */
function createReadingContext(
  asker: string,
  options: CallOptions,
  call: RunningCall,
): ReadingContext {
  const cwd = options.cwd ?? host.cwd()
  return {
    get signal() {
      return call.signal
    },
    cwd,
    env: options.env ?? host.env(),
    caller: options.caller,
    ...createQuestions(asker, cwd, options, call),
    log: (message, level = 'info') =>
      void emitEvent({ type: 'log', level, message: String(message) }, options, call),
  }
}
