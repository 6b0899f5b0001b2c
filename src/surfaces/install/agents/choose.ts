import { ToolError } from '../../../contract/tool-error.ts'
import type { Agent, Surroundings } from './agent.ts'
import { detect } from './detect.ts'

/** The agents that are meant: those of the given names, else those that are used here. Throws NOT_FOUND when that is none. */
export function chooseAgents<Known extends Agent>(
  agents: readonly Known[],
  names: readonly string[] | undefined,
  surroundings: Surroundings,
  input: object,
): readonly Known[] {
  const chosen = agents.filter((agent) =>
    names ? names.includes(agent.name) : detect(agent, surroundings) !== undefined,
  )
  if (chosen.length > 0) return chosen
  throw new ToolError(
    'NOT_FOUND',
    `no agent was found in ${surroundings.cwd}, in ${surroundings.home} or on the PATH; known are ${agents.map(({ name }) => name).join(', ')}`,
    { suggestion: { fix: 'Name the agent', input: { ...input, agent: [agents[0]!.name] } } },
  )
}
