/**
 * The table of coding agents that something can be installed into.
 *
 * A new agent is one file in this folder that exports `agent`, and one line in this table. The
 * choices of `--agent`, help and the documentation follow from the table.
 */

import { existsSync } from 'node:fs'
import { ToolError } from '../../protocol/tool-error.ts'
import type { AgentDefinition, AgentEnvironment, CodingAgent, ServerAgent } from './agent.ts'
import { findProgram } from './agent.ts'

type AgentRow = {
  /** False for agents that take skills only. */
  readonly hasServers: boolean
  load(): Promise<{ readonly agent: AgentDefinition }>
}

const CODING_AGENTS: { readonly [name: string]: AgentRow } = {
  'claude-code': { hasServers: true, load: () => import('./claude-code.ts') },
  codex: { hasServers: true, load: () => import('./codex.ts') },
  cursor: { hasServers: true, load: () => import('./cursor.ts') },
  vscode: { hasServers: true, load: () => import('./vscode.ts') },
  shared: { hasServers: false, load: () => import('./shared.ts') },
}

/** The names of all agents. */
export const AGENT_NAMES = Object.keys(CODING_AGENTS)

/** The names of the agents that have MCP servers. */
export const SERVER_AGENT_NAMES = AGENT_NAMES.filter((name) => CODING_AGENTS[name]!.hasServers)

/** Loads the agents of these names, in the order of the table; default: all. */
export async function loadAgents(
  names: readonly string[] = AGENT_NAMES,
): Promise<readonly CodingAgent[]> {
  const wanted = AGENT_NAMES.filter((name) => names.includes(name))
  return Promise.all(
    wanted.map(async (name) => ({ name, ...(await CODING_AGENTS[name]!.load()).agent })),
  )
}

/** The same for agents that have MCP servers. */
export async function loadServerAgents(
  names: readonly string[] = SERVER_AGENT_NAMES,
): Promise<readonly ServerAgent[]> {
  const agents = await loadAgents(SERVER_AGENT_NAMES.filter((name) => names.includes(name)))
  return agents.filter((agent): agent is ServerAgent => agent.servers !== undefined)
}

/** True when an agent is used on this machine: it left a file here, or its program is installed. */
export function isAgentUsed(agent: CodingAgent, environment: AgentEnvironment): boolean {
  const { paths, programs } = agent.getTraces(environment)
  return (
    paths.some((path) => existsSync(path)) ||
    programs.some((program) => findProgram(program, environment) !== undefined)
  )
}

/** The agents that are used on this machine. Throws NOT_FOUND when there are none. */
export function requireUsedAgents<Agent extends CodingAgent>(
  agents: readonly Agent[],
  environment: AgentEnvironment,
  input: object,
): readonly Agent[] {
  const used = agents.filter((agent) => isAgentUsed(agent, environment))
  if (used.length > 0) return used
  const names = agents.map(({ name }) => name)
  throw new ToolError(
    'NOT_FOUND',
    `no agent was found in ${environment.cwd}, in ${environment.home} or on the PATH; known are ${names.join(', ')}`,
    { suggestion: { fix: 'Name the agent', input: { ...input, agent: names.slice(0, 1) } } },
  )
}
