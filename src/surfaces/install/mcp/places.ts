import type { Agent, Scope, ServerPlace, Surroundings } from '../agents/agent.ts'
import { AGENTS } from '../agents/all.ts'
import { loadFormat } from '../formats/load.ts'
import type { Format } from '../formats/format.ts'

/** An agent that has MCP servers. */
export type ServerAgent = Agent & { readonly servers: ServerPlace }

/** Every agent that has MCP servers. */
export const SERVER_AGENTS = AGENTS.filter(
  (agent): agent is ServerAgent => agent.servers !== undefined,
)

/** One file of one agent, and how it is edited. */
export type Place = {
  readonly agent: ServerAgent
  readonly servers: ServerPlace
  readonly scope: Scope
  readonly file: string
  readonly format: Format
}

/** The files of some agents. */
export function placesOf(
  agents: readonly ServerAgent[],
  scope: Scope,
  surroundings: Surroundings,
): Promise<readonly Place[]> {
  return Promise.all(
    agents.map(async (agent) => ({
      agent,
      servers: agent.servers,
      scope,
      file: agent.servers.file(scope, surroundings),
      format: await loadFormat(agent.servers.format),
    })),
  )
}
