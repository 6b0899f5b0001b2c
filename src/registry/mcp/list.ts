import type { Tool } from '@modelcontextprotocol/client'
import type { Loaded, Problem } from '../found.ts'
import type { Connection } from './connection.ts'
import { toFailure } from './failure.ts'
import { listTools } from './list-tools.ts'
import { readPrompts } from './prompts.ts'
import { readResources } from './resources.ts'
import type { Session } from './session.ts'
import type { McpSettings } from './settings.ts'
import { foundTool } from './tools.ts'

const MOST = 10_000
const UNKNOWN_METHOD = -32601

type Tell = (reason: string, message: string, fix: string, severity?: Problem['severity']) => void

/** Asks a server for everything that it has; throws ToolError where it does not tell its tools. */
export function listServer(connection: Connection, settings: McpSettings): Promise<Loaded> {
  return connection.with(async (session) => {
    const problems: Problem[] = []
    const tell: Tell = (reason, message, fix, severity = 'warning') =>
      void problems.push({
        source: settings.name,
        location: settings.location,
        reason,
        message,
        fix,
        severity,
      })
    try {
      return { ...(await listAll(session, connection, settings, tell)), problems }
    } catch (error) {
      throw toFailure(error, 'the list of its tools', settings, session)
    }
  })
}

async function listAll(
  session: Session,
  connection: Connection,
  settings: McpSettings,
  tell: Tell,
): Promise<Loaded> {
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
      return (await list).slice(0, MOST)
    } catch (error) {
      if ((error as { readonly code?: unknown }).code !== UNKNOWN_METHOD)
        tell(
          'unlisted',
          toFailure(error, what, settings, session).message,
          'The author of the server should mend it',
        )
      return []
    }
  }
  const [tools, resources, templates, prompts] = await Promise.all([
    hasTools
      ? listTools(client, options, (name, problem) =>
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
  if (tools.length > MOST)
    tell(
      'too-many',
      `MCP server '${settings.name}' has ${tools.length} tools; ${MOST} are taken`,
      'Split the server',
    )
  const shared = { connection, settings, completes: completions !== undefined, tell }
  const version = client.getServerVersion()?.version
  return {
    tools: tools
      .slice(0, MOST)
      .filter((tool) => isCallable(tool, session, settings, tell))
      .map((tool) => foundTool(tool, version, connection, settings)),
    resources: readResources(resources, templates, shared),
    prompts: readPrompts(prompts, shared),
  }
}

// Tasks have moved to another form since; servers of the old one would refuse every call.
function isCallable(tool: Tool, { isModern }: Session, { name }: McpSettings, tell: Tell): boolean {
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
