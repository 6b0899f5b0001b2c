/**
 * The table of coding agents. A new agent is one file in this folder and one line here.
 */

import { existsSync } from 'node:fs'
import { ToolError } from '../../protocol/tool-error.ts'
import { findProgram } from './agent.ts'
import type { AgentEnvironment, CodingAgent } from './agent.ts'
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import { cursor } from './cursor.ts'
import { sharedFolder } from './shared.ts'
import { vscode } from './vscode.ts'

/** Every agent that something can be installed into. */
export const CODING_AGENTS: readonly CodingAgent[] = [
  claudeCode,
  codex,
  cursor,
  vscode,
  sharedFolder,
]

/** What shows that an agent is used on this machine, in words; undefined where nothing does. */
export function detectAgent(
  agent: CodingAgent,
  surroundings: AgentEnvironment,
): string | undefined {
  const { paths, programs } = agent.getTraces(surroundings)
  const path = paths.find((candidate) => existsSync(candidate))
  if (path !== undefined) return path
  return programs
    .map((program) => findProgram(program, surroundings))
    .find((found) => found !== undefined)
}

/**
 * The agents that are meant: those of the given names, else those that are used here. Throws
 * NOT_FOUND when that is none.
 */
export function chooseAgents<Known extends CodingAgent>(
  agents: readonly Known[],
  names: readonly string[] | undefined,
  surroundings: AgentEnvironment,
  input: object,
): readonly Known[] {
  const chosen = agents.filter((agent) =>
    names ? names.includes(agent.name) : detectAgent(agent, surroundings) !== undefined,
  )
  if (chosen.length > 0) return chosen
  throw new ToolError(
    'NOT_FOUND',
    `no agent was found in ${surroundings.cwd}, in ${surroundings.home} or on the PATH; known are ${agents.map(({ name }) => name).join(', ')}`,
    { suggestion: { fix: 'Name the agent', input: { ...input, agent: [agents[0]!.name] } } },
  )
}
