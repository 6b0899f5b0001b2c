import { shorten } from '../../contract/shorten.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { defineForeign } from '../foreign/define-foreign.ts'
import { summaryOf } from '../foreign/summary.ts'
import type { FoundTool, Loaded, Problem } from '../found.ts'
import { request } from '../http/request.ts'
import { statusFailure } from '../http/status-failure.ts'
import { callTool } from './call.ts'
import { entriesOf, readManifest } from './manifest.ts'
import type { Manifest } from './manifest.ts'
import { functionOf } from './server.ts'
import type { ToolServer } from './server.ts'

const MOST = 10_000

/** Asks a server for its tools; throws ToolError where it does not tell. */
export async function listTools(server: ToolServer, signal: AbortSignal): Promise<Loaded> {
  const { what, name, location } = server
  const answer = await request({
    url: functionOf(server, 'list_tools'),
    method: 'GET',
    headers: { accept: 'application/json', ...server.headers },
    signal,
    timeout: server.listTimeout,
    who: what,
  })
  if (answer.status >= 300) throw statusFailure(answer, what, 'list_tools')
  const entries = entriesOf(answer.document)
  if (!entries)
    throw new ToolError(
      'DEPENDENCY',
      `${what} answered /list_tools with something that is no list of tools: ${JSON.stringify(shorten(answer.bytes.toString('utf8', 0, 200), 100))}`,
      { retryable: false, suggestion: `Look at it: curl ${location}/list_tools` },
    )
  const problems: Problem[] = []
  const tools = entries.slice(0, MOST).flatMap((entry, index): readonly FoundTool[] => {
    const manifest = readManifest(entry)
    if (typeof manifest !== 'string') return [foundTool(manifest, server)]
    problems.push({
      source: name,
      location,
      reason: 'manifest',
      message: `entry ${index + 1} of the list of ${what} is no tool: ${manifest}`,
      fix: 'Its author should give it a name and JSON Schema parameters',
      severity: 'error',
    })
    return []
  })
  if (entries.length > MOST)
    problems.push({
      source: name,
      location,
      reason: 'too-many',
      message: `${what} has ${entries.length} tools; ${MOST} are taken`,
      fix: 'Split the server',
      severity: 'warning',
    })
  return { tools, problems }
}

function foundTool({ name, facts }: Manifest, server: ToolServer): FoundTool {
  return {
    source: server.name,
    name,
    tier: 'server',
    kind: 'tool server',
    location: server.location,
    summary: summaryOf(name, facts),
    tags: facts.tags ?? [],
    define: (own) => defineForeign(own, facts, (input, ctx) => callTool(server, name, input, ctx)),
  }
}
