import type { Tool } from '@modelcontextprotocol/client'
import type { Annotations } from '../../contract/manifest.ts'
import { defineForeign } from '../foreign/define-foreign.ts'
import { summaryOf } from '../foreign/summary.ts'
import type { ForeignFacts, FoundTool } from '../found.ts'
import { callTool } from './call.ts'
import type { Connection } from './connection.ts'
import type { McpSettings } from './settings.ts'

/** A tool of a server as the registry knows it. */
export function foundTool(
  tool: Tool,
  version: string | undefined,
  connection: Connection,
  settings: McpSettings,
): FoundTool {
  const facts = factsOf(tool, settings)
  return {
    source: settings.name,
    ...(version !== undefined && { version }),
    name: tool.name,
    tier: 'server',
    kind: 'mcp server',
    location: settings.location,
    summary: summaryOf(tool.name, facts),
    tags: [],
    define: (name) =>
      defineForeign(name, facts, (input, ctx) => callTool(tool, input, ctx, connection, settings)),
  }
}

function factsOf(
  { title, description, inputSchema, outputSchema, annotations }: Tool,
  { callTimeout }: McpSettings,
): ForeignFacts {
  const shown = title ?? annotations?.title
  return {
    ...(shown !== undefined && shown.trim() !== '' && { title: shown }),
    ...(description !== undefined && { description }),
    inputSchema: inputSchema,
    ...(outputSchema !== undefined && { outputSchema: outputSchema }),
    annotations: readHints(annotations),
    ...(callTimeout !== undefined && { timeout: callTimeout }),
  }
}

function readHints({
  readOnlyHint,
  destructiveHint,
  idempotentHint,
  openWorldHint,
}: NonNullable<Tool['annotations']> = {}): Annotations {
  return {
    ...(readOnlyHint !== undefined && { readOnly: readOnlyHint }),
    // What only reads destroys nothing, whatever else is said.
    ...(destructiveHint !== undefined && { destructive: destructiveHint && readOnlyHint !== true }),
    ...(idempotentHint !== undefined && { idempotent: idempotentHint }),
    ...(openWorldHint !== undefined && { openWorld: openWorldHint }),
  }
}
