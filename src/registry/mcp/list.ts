import type { Client } from '@modelcontextprotocol/client'
import type { Loaded, Problem } from '../found.ts'
import type { Connection } from './connection.ts'
import { toFailure } from './failure.ts'
import { readPrompts } from './prompts.ts'
import { readResources } from './resources.ts'
import type { McpSettings } from './settings.ts'
import { foundTool } from './tools.ts'

const MOST = 10_000

/** Asks a server for everything that it has; throws ToolError where it does not tell its tools. */
export async function listServer(connection: Connection, settings: McpSettings): Promise<Loaded> {
  const session = await connection.open()
  const { client } = session
  const { tools: hasTools, resources: hasResources, prompts: hasPrompts, completions } = client.getServerCapabilities() ?? {}
  const problems: Problem[] = []
  const options = { cacheMode: 'refresh', timeout: settings.startTimeout, maxTotalTimeout: settings.startTimeout } as const
  const tell = (reason: string, message: string, fix: string, severity: Problem['severity'] = 'warning'): void => void problems.push({ source: settings.name, location: settings.location, reason, message, fix, severity })
  // What a server has besides tools is no reason to do without them.
  const orNone = async <T>(what: string, list: Promise<readonly T[]>): Promise<readonly T[]> => {
    try {
      return await list
    } catch (error) {
      if ((error as { code?: unknown }).code !== -32601) tell('unlisted', toFailure(error, what, settings, session).message, 'The author of the server should mend it')
      return []
    }
  }
  try {
    const [tools, resources, templates, prompts] = await Promise.all([
      hasTools ? listTools(client, options) : [],
      hasResources ? orNone('the list of its resources', client.listResources(undefined, options).then((answer) => answer.resources)) : [],
      hasResources ? orNone('the list of its resource templates', client.listResourceTemplates(undefined, options).then((answer) => answer.resourceTemplates)) : [],
      hasPrompts ? orNone('the list of its prompts', client.listPrompts(undefined, options).then((answer) => answer.prompts)) : [],
    ])
    const shared = { connection, settings, completes: completions !== undefined, tell }
    const version = client.getServerVersion()?.version
    if (tools.length > MOST) tell('too-many', `MCP server '${settings.name}' has ${tools.length} tools; ${MOST} are taken`, 'Split the server')
    return {
      tools: tools.slice(0, MOST).filter((tool) => {
        const onlyTask = tool.execution?.taskSupport === 'required' && !session.isModern
        if (onlyTask) tell('unsupported', `'${tool.name}' of MCP server '${settings.name}' runs only as a task, in a form that the protocol has given up`, 'Update the server', 'error')
        return !onlyTask
      }).map((tool) => foundTool(tool, version, connection, settings)),
      resources: readResources(resources.slice(0, MOST), templates.slice(0, MOST), shared),
      prompts: readPrompts(prompts.slice(0, MOST), shared),
      problems,
    }
  } catch (error) {
    throw toFailure(error, 'the list of its tools', settings, session)
  }
}

async function listTools(client: Client, options: Parameters<Client['listTools']>[1]) {
  return (await client.listTools(undefined, options)).tools
}
