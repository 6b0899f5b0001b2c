/**
 * Lists everything an MCP server has, and reads its resources and prompts.
 */

import type {
  CompleteRequestParams,
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
import type { JsonObject, JsonSchema } from '../../util/values.ts'
import { asList, asObject, asText, compact, isObject } from '../../util/values.ts'
import { toFreeName, toSummary } from '../names.ts'
import type { LoadedSource, Problem, ReportProblem } from '../source.ts'
import { createReporter } from '../source.ts'
import type { McpConnection } from './connection.ts'
import { sendWithInputRounds } from './elicitation.ts'
import type { McpClientSession } from './session.ts'
import { toServerError } from './session.ts'
import { listMcpTools, toMcpFoundTool } from './tools.ts'
import type { McpSettings } from './transports.ts'

const MAX_LISTED = 10_000
const UNKNOWN_METHOD = -32601
const AUTHOR_FIX = 'The author of the server should mend it'

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
  const report = createReporter(settings.name, settings.location, problems)
  try {
    const listed = await connection.with((opened) => {
      session = opened
      return listEverything(opened, connection, settings, report)
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
  report: ReportProblem,
): Promise<LoadedSource> {
  const { client } = session
  const has = client.getServerCapabilities() ?? {}
  const options = { cacheMode: 'refresh', timeout: settings.startTimeout } as const
  // What a server has besides tools is no reason to do without them.
  const orNone = async <T>(what: string, list: () => Promise<readonly T[]>) => {
    try {
      return (await list()).slice(0, MAX_LISTED)
    } catch (error) {
      if ((error as { readonly code?: unknown }).code !== UNKNOWN_METHOD)
        report('unlisted', toServerError(error, what, settings, session).message, AUTHOR_FIX)
      return []
    }
  }
  const [tools, resources, templates, prompts] = await Promise.all([
    has.tools ? listMcpTools(client, options, settings, report) : [],
    has.resources
      ? orNone(
          'the list of its resources',
          async () => (await client.listResources(undefined, options)).resources,
        )
      : [],
    has.resources
      ? orNone(
          'the list of its resource templates',
          async () => (await client.listResourceTemplates(undefined, options)).resourceTemplates,
        )
      : [],
    has.prompts
      ? orNone(
          'the list of its prompts',
          async () => (await client.listPrompts(undefined, options)).prompts,
        )
      : [],
  ])
  if (tools.length > MAX_LISTED)
    report(
      'too-many',
      `MCP server '${settings.name}' has ${tools.length} tools; ${MAX_LISTED} are taken`,
      'Split the server',
    )
  const reading = { connection, settings, completes: has.completions !== undefined, report }
  const version = client.getServerVersion()?.version
  return {
    tools: tools
      .slice(0, MAX_LISTED)
      .filter((tool) => isToolCallable(tool, session, settings, report))
      .map((tool) => toMcpFoundTool(tool, version, connection, settings)),
    resources: [
      ...resources.flatMap((given) => makeServerResource(given.uri, given, reading)),
      ...templates.flatMap((given) => makeServerResource(given.uriTemplate, given, reading)),
    ],
    prompts: readPrompts(prompts, reading),
  }
}

// The protocol has a new form of tasks; servers of the old one would refuse every call.
function isToolCallable(
  tool: Tool,
  { isModern }: McpClientSession,
  { name }: McpSettings,
  report: ReportProblem,
): boolean {
  const onlyTask = tool.execution?.taskSupport === 'required' && !isModern
  if (onlyTask)
    report(
      'unsupported',
      `'${tool.name}' of MCP server '${name}' runs only as a task, in a form that the protocol has given up`,
      'Update the server',
      'error',
    )
  return !onlyTask
}

/** What the lists of a server are read with. */
type ServerReading = {
  readonly connection: McpConnection
  readonly settings: McpSettings
  /** The server completes arguments. */
  readonly completes: boolean
  readonly report: ReportProblem
}

type ResourceMetadata = Pick<ServerResource, 'name' | 'title' | 'description' | 'mimeType'>

// A resource of the server as one of ours, read from the server on demand.
function makeServerResource(
  uri: string,
  { name, title, description, mimeType }: ResourceMetadata,
  reading: ServerReading,
): readonly Resource[] {
  try {
    const pattern = compileUriPattern(uri)
    return [
      resource<string>({
        uri,
        summary: toSummary(name, { description, title }),
        ...compact({
          name: toNonBlank(name),
          title: toNonBlank(title),
          mimeTypes: mimeType === undefined ? undefined : [mimeType],
          complete: createCompleters({ type: 'ref/resource', uri }, pattern.params, reading),
        }),
        read: (params, ctx) => readServerResource(pattern.expand(params), ctx, reading),
      }),
    ]
  } catch (error) {
    reading.report(
      'resource',
      `resource '${uri}' of MCP server '${reading.settings.name}' cannot be used: ${(error as Error).message}`,
      'Its author should give it an address with simple {name} placeholders',
    )
    return []
  }
}

function toNonBlank(text: string | undefined): string | undefined {
  return text?.trim() === '' ? undefined : text
}

type Completer = (
  value: string,
  others: { readonly [name: string]: string },
) => Promise<readonly string[]>

// Completes the arguments of a resource or prompt; undefined when the server completes nothing.
function createCompleters(
  ref: CompleteRequestParams['ref'],
  names: readonly string[],
  { completes, connection, settings }: ServerReading,
): { readonly [name: string]: Completer } | undefined {
  if (!completes || names.length === 0) return undefined
  const createCompleter =
    (name: string): Completer =>
    (value, others) =>
      connection.with(async ({ client }) => {
        const { completion } = await client.complete(
          { ref, argument: { name, value }, context: { arguments: { ...others } } },
          { timeout: settings.startTimeout },
        )
        return completion.values
      })
  return Object.fromEntries(names.map((name) => [name, createCompleter(name)]))
}

async function readServerResource(
  uri: string,
  ctx: ReadingContext,
  { connection, settings }: ServerReading,
): Promise<ResourceContent> {
  const result = await connection.use(`reading ${uri}`, ctx, ({ client }, { signal, asker }) =>
    sendWithInputRounds<unknown>(asker, settings.roots, (answers) =>
      client.readResource(
        { uri, ...answers },
        { signal, timeout: MAX_TIMER_MS, allowInputRequired: true, cacheMode: 'bypass' },
      ),
    ),
  )
  const parts = asList(asObject(result)?.['contents']).filter(isObject)
  return parts.length === 1 ? toResourceContent(parts[0]!) : parts
}

function toResourceContent({ text, blob, mimeType }: JsonObject): ResourceContent {
  const type = asText(mimeType)
  if (typeof blob === 'string') return { mimeType: type ?? 'application/octet-stream', blob }
  return type === undefined ? String(text) : { mimeType: type, text: String(text) }
}

// The prompts of the server as ours, rendered by the server on demand.
function readPrompts(prompts: readonly ServerPrompt[], reading: ServerReading): readonly Prompt[] {
  const taken = new Set<string>()
  return prompts.flatMap(({ name, title, description, arguments: given = [] }) => {
    const names = given.map((argument) => argument.name)
    try {
      return [
        prompt<JsonSchema>({
          name: toPromptName(name, taken),
          summary: toSummary(name, { description, title }),
          ...compact({
            title: toNonBlank(title),
            complete: createCompleters({ type: 'ref/prompt', name }, names, reading),
          }),
          arguments: toArgumentsSchema(given),
          render: (args, ctx) =>
            renderServerPrompt(name, args as { readonly [name: string]: string }, ctx, reading),
        }),
      ]
    } catch (error) {
      reading.report(
        'prompt',
        `prompt '${name}' of MCP server '${reading.settings.name}' cannot be used: ${(error as Error).message}`,
        'Its author should mend it',
      )
      return []
    }
  })
}

// Names of prompts are lower-case letters, digits, '_' and '-'; the last two are equal.
function toPromptName(name: string, taken: Set<string>): string {
  const plain =
    name
      .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
      .toLowerCase()
      .replace(/[^a-z0-9_-]+/g, '_')
      .replace(/^_+|_+$/g, '')
      .slice(0, 60) || 'prompt'
  const free = toFreeName(plain, (wanted) => taken.has(wanted.replaceAll('-', '_')))
  taken.add(free.replaceAll('-', '_'))
  return free
}

function toArgumentsSchema(given: ServerPrompt['arguments'] & {}): JsonSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(
      given.map(({ name, description }) => [name, compact({ type: 'string', description })]),
    ),
    required: given.filter(({ required }) => required === true).map(({ name }) => name),
    additionalProperties: false,
  }
}

async function renderServerPrompt(
  name: string,
  args: { readonly [name: string]: string },
  ctx: ReadingContext,
  { connection, settings }: ServerReading,
): Promise<readonly PromptMessage[]> {
  const result = await connection.use(`prompt '${name}'`, ctx, ({ client }, { signal, asker }) =>
    sendWithInputRounds<unknown>(asker, settings.roots, (answers) =>
      client.getPrompt(
        { name, arguments: { ...args }, ...answers },
        { signal, timeout: MAX_TIMER_MS, allowInputRequired: true },
      ),
    ),
  )
  return asList(asObject(result)?.['messages'])
    .filter(isObject)
    .map(({ role, content }) => ({
      role: role === 'assistant' ? 'assistant' : 'user',
      content: toPromptContent(content as ContentBlock),
    }))
}

function toPromptContent(block: ContentBlock): string | ContentBlock {
  if (findContentProblem(block) !== undefined) return JSON.stringify(block)
  return block.type === 'text' ? block.text : block
}
