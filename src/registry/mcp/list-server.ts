/**
 * Lists everything an MCP server has, and reads its resources and prompts.
 */

import type {
  ResourceTemplateType,
  Prompt as ServerPrompt,
  Resource as ServerResource,
  Tool,
} from '@modelcontextprotocol/client'
import type { Prompt, PromptMessage } from '../../define/prompt.ts'
import { prompt } from '../../define/prompt.ts'
import type { Resource, ResourceContent } from '../../define/resource.ts'
import { compileUriPattern, resource } from '../../define/resource.ts'
import type { ReadingContext } from '../../protocol/context.ts'
import { MAX_TIMER_MS } from '../../protocol/limits.ts'
import type { ContentBlock } from '../../protocol/outcome.ts'
import { findContentProblem } from '../../protocol/outcome.ts'
import type { JsonSchema } from '../../util/values.ts'
import { compact, isObject } from '../../util/values.ts'
import { toSummary } from '../names.ts'
import type { LoadedSource, Problem } from '../source.ts'
import type { McpConnection } from './connection.ts'
import { sendWithInputRounds } from './elicitation.ts'
import type { McpClientSession } from './session.ts'
import { toServerError } from './session.ts'
import { listMcpTools, toMcpFoundTool } from './tools.ts'
import type { McpSettings } from './transports.ts'

const MAX_LISTED = 10_000
const UNKNOWN_METHOD = -32601

type ReportProblem = (
  reason: string,
  message: string,
  fix: string,
  severity?: Problem['severity'],
) => void

/**
 * Lists everything that a server has. A server that ends meanwhile is started once more if it was
 * listed before: its next call would start it too, so its tools must not disappear. Throws ToolError
 * when the tools cannot be listed.
 */
export async function listMcpServer(
  connection: McpConnection,
  settings: McpSettings,
  wasListed: boolean,
): Promise<LoadedSource> {
  let session: McpClientSession | undefined
  const problems: Problem[] = []
  const tell: ReportProblem = (reason, message, fix, severity = 'warning') =>
    void problems.push({
      source: settings.name,
      location: settings.location,
      reason,
      message,
      fix,
      severity,
    })
  try {
    const listed = await connection.with((opened) => {
      session = opened
      return listEverything(opened, connection, settings, tell)
    })
    return { ...listed, problems }
  } catch (error) {
    if (wasListed && session?.ended()) return listMcpServer(connection, settings, false)
    throw toServerError(error, 'the list of its tools', settings, session)
  }
}

async function listEverything(
  session: McpClientSession,
  connection: McpConnection,
  settings: McpSettings,
  tell: ReportProblem,
): Promise<LoadedSource> {
  const { client } = session
  const {
    tools: hasTools,
    resources: hasResources,
    prompts: hasPrompts,
    completions,
  } = client.getServerCapabilities() ?? {}
  const options = { cacheMode: 'refresh', timeout: settings.startTimeout } as const
  // What a server has besides tools is no reason to do without them.
  const orNone = async <T>(what: string, list: Promise<readonly T[]>): Promise<readonly T[]> => {
    try {
      return (await list).slice(0, MAX_LISTED)
    } catch (error) {
      if ((error as { readonly code?: unknown }).code !== UNKNOWN_METHOD)
        tell(
          'unlisted',
          toServerError(error, what, settings, session).message,
          'The author of the server should mend it',
        )
      return []
    }
  }
  const [tools, resources, templates, prompts] = await Promise.all([
    hasTools
      ? listMcpTools(client, options, (name, problem) =>
          tell(
            'tool',
            `${name} of MCP server '${settings.name}' is no tool: ${problem}`,
            'The author of the server should mend it',
            'error',
          ),
        )
      : [],
    hasResources
      ? orNone(
          'the list of its resources',
          client.listResources(undefined, options).then((answer) => answer.resources),
        )
      : [],
    hasResources
      ? orNone(
          'the list of its resource templates',
          client
            .listResourceTemplates(undefined, options)
            .then((answer) => answer.resourceTemplates),
        )
      : [],
    hasPrompts
      ? orNone(
          'the list of its prompts',
          client.listPrompts(undefined, options).then((answer) => answer.prompts),
        )
      : [],
  ])
  if (tools.length > MAX_LISTED)
    tell(
      'too-many',
      `MCP server '${settings.name}' has ${tools.length} tools; ${MAX_LISTED} are taken`,
      'Split the server',
    )
  const shared = { connection, settings, completes: completions !== undefined, tell }
  const version = client.getServerVersion()?.version
  return {
    tools: tools
      .slice(0, MAX_LISTED)
      .filter((tool) => isToolCallable(tool, session, settings, tell))
      .map((tool) => toMcpFoundTool(tool, version, connection, settings)),
    resources: readResources(resources, templates, shared),
    prompts: readPrompts(prompts, shared),
  }
}

// Tasks have moved to another form since; servers of the old one would refuse every call.
function isToolCallable(
  tool: Tool,
  { isModern }: McpClientSession,
  { name }: McpSettings,
  tell: ReportProblem,
): boolean {
  const onlyTask = tool.execution?.taskSupport === 'required' && !isModern
  if (onlyTask)
    tell(
      'unsupported',
      `'${tool.name}' of MCP server '${name}' runs only as a task, in a form that the protocol has given up`,
      'Update the server',
      'error',
    )
  return !onlyTask
}

/** What lists of a server are read with. */
type ServerReading = {
  readonly connection: McpConnection
  readonly settings: McpSettings
  /** The server completes arguments. */
  readonly completes: boolean
  tell(reason: string, message: string, fix: string): void
}

/**
 * Resources of a server as resources of ours, read from it when they are wanted. What cannot be one
 * is told.
 */
function readResources(
  resources: readonly ServerResource[],
  templates: readonly ResourceTemplateType[],
  reading: ServerReading,
): readonly Resource[] {
  const fixed = resources.flatMap((given) => makeServerResource(given.uri, given, reading))
  return [
    ...fixed,
    ...templates.flatMap((given) => makeServerResource(given.uriTemplate, given, reading)),
  ]
}

type ResourceMetadata = {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly mimeType?: string | undefined
}

function makeServerResource(
  uri: string,
  facts: ResourceMetadata,
  reading: ServerReading,
): readonly Resource[] {
  const { settings, completes } = reading
  const { name, title, description, mimeType } = facts
  try {
    const pattern = compileUriPattern(uri)
    return [
      resource<string>({
        uri,
        summary: toSummary(name, compact({ description, title })),
        ...compact({
          name: name.trim() !== '' ? name : undefined,
          title: title !== undefined && title.trim() !== '' ? title : undefined,
          mimeTypes: mimeType !== undefined ? [mimeType] : undefined,
        }),
        read: (params, ctx) => readServerResource(pattern.expand(params), ctx, reading),
        ...compact({
          complete:
            completes && pattern.params.length > 0
              ? Object.fromEntries(
                  pattern.params.map((param) => [
                    param,
                    createResourceCompleter(uri, param, reading),
                  ]),
                )
              : undefined,
        }),
      }),
    ]
  } catch (error) {
    reading.tell(
      'resource',
      `resource '${uri}' of MCP server '${settings.name}' cannot be used: ${(error as Error).message}`,
      'Its author should give it an address with simple {name} placeholders',
    )
    return []
  }
}

function createResourceCompleter(
  uri: string,
  param: string,
  { connection, settings }: ServerReading,
): (value: string, others: { readonly [name: string]: string }) => Promise<readonly string[]> {
  return (value, others) =>
    connection.with(
      async ({ client }) =>
        (
          await client.complete(
            {
              ref: { type: 'ref/resource', uri },
              argument: { name: param, value },
              context: { arguments: { ...others } },
            },
            { timeout: settings.startTimeout },
          )
        ).completion.values,
    )
}

async function readServerResource(
  uri: string,
  ctx: ReadingContext,
  { connection, settings }: ServerReading,
): Promise<ResourceContent> {
  const contents = await connection.use(`reading ${uri}`, ctx, ({ client }, { signal, asker }) =>
    sendWithInputRounds(asker, settings.roots, async (answers) => {
      const result: unknown = await client.readResource(
        { uri, ...answers },
        { signal, timeout: MAX_TIMER_MS, allowInputRequired: true, cacheMode: 'bypass' },
      )
      return isObject(result) && Array.isArray(result['contents'])
        ? (result['contents'] as readonly unknown[])
        : result
    }),
  )
  const parts = (Array.isArray(contents) ? contents : []).filter(isObject)
  return parts.length === 1 ? toResourceContent(parts[0]!) : parts
}

function toResourceContent({
  text,
  blob,
  mimeType,
}: {
  readonly [field: string]: unknown
}): ResourceContent {
  if (typeof blob === 'string')
    return { mimeType: typeof mimeType === 'string' ? mimeType : 'application/octet-stream', blob }
  return typeof mimeType === 'string' ? { mimeType, text: String(text) } : String(text)
}

/** Prompts of a server as prompts of ours, rendered by it when they are wanted. */
function readPrompts(prompts: readonly ServerPrompt[], reading: ServerReading): readonly Prompt[] {
  const taken = new Set<string>()
  return prompts.flatMap((given) => {
    const { name, title, description } = given
    try {
      const names = (given.arguments ?? []).map((argument) => argument.name)
      return [
        prompt<JsonSchema>({
          name: toFreePromptName(name, taken),
          summary: toSummary(name, compact({ description, title })),
          ...compact({ title: title !== undefined && title.trim() !== '' ? title : undefined }),
          arguments: toArgumentsSchema(given),
          render: (args, ctx) =>
            renderServerPrompt(name, args as { readonly [name: string]: string }, ctx, reading),
          ...compact({
            complete:
              reading.completes && names.length > 0
                ? Object.fromEntries(
                    names.map((argument) => [
                      argument,
                      createPromptCompleter(name, argument, reading),
                    ]),
                  )
                : undefined,
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
function toFreePromptName(name: string, taken: Set<string>): string {
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

function toArgumentsSchema({ arguments: given = [] }: ServerPrompt): JsonSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(
      given.map(({ name, description }) => [name, compact({ type: 'string', description })]),
    ),
    required: given.filter(({ required }) => required === true).map(({ name }) => name),
    additionalProperties: false,
  }
}

function createPromptCompleter(
  prompt: string,
  argument: string,
  { connection, settings }: ServerReading,
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

async function renderServerPrompt(
  name: string,
  args: { readonly [name: string]: string },
  ctx: ReadingContext,
  { connection, settings }: ServerReading,
): Promise<readonly PromptMessage[]> {
  const messages = await connection.use(`prompt '${name}'`, ctx, ({ client }, { signal, asker }) =>
    sendWithInputRounds(asker, settings.roots, async (answers) => {
      const result: unknown = await client.getPrompt(
        { name, arguments: { ...args }, ...answers },
        { signal, timeout: MAX_TIMER_MS, allowInputRequired: true },
      )
      return isObject(result) && Array.isArray(result['messages'])
        ? (result['messages'] as readonly unknown[])
        : result
    }),
  )
  return (Array.isArray(messages) ? messages : []).filter(isObject).map(({ role, content }) => {
    const block = content as ContentBlock
    const shown: string | ContentBlock =
      findContentProblem(block) === undefined
        ? block.type === 'text'
          ? block.text
          : block
        : JSON.stringify(block)
    return { role: role === 'assistant' ? 'assistant' : 'user', content: shown }
  })
}
