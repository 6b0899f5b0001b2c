import { ToolError } from '../../../contract/tool-error.ts'
import type { Agent, Scope, Surroundings } from '../agents/agent.ts'
import { detect } from '../agents/detect.ts'
import { fileProblem } from '../../../call/files/file-problem.ts'
import { inspectSkill } from './inspect.ts'
import { skillPlaces } from './places.ts'
import type { Skill } from './skill.ts'

/** The skill in the folder of one agent. */
export type ListedSkill = {
  readonly agent: string
  readonly detected: boolean
  readonly scope: Scope
  readonly name: string
  readonly state: 'current' | 'stale' | 'edited' | 'foreign' | 'absent' | 'broken'
  readonly folder: string
  readonly reason?: string
}

/** Where a skill is installed, and whether it is what would be written now. */
export function listSkills(
  agents: readonly Agent[],
  scopes: readonly Scope[],
  skill: Skill,
  surroundings: Surroundings,
): readonly ListedSkill[] {
  return scopes.flatMap((scope) =>
    agents.flatMap((agent) =>
      skillPlaces([agent], scope, skill.name, surroundings).map(({ folder }) => ({
        agent: agent.name,
        detected: detect(agent, surroundings) !== undefined,
        scope,
        name: skill.name,
        ...stateOf(folder, skill),
      })),
    ),
  )
}

function stateOf(folder: string, skill: Skill): Pick<ListedSkill, 'state' | 'folder' | 'reason'> {
  try {
    const found = inspectSkill(folder, skill)
    return { state: found.state, folder, ...('reason' in found && { reason: found.reason }) }
  } catch (error) {
    const problem = fileProblem(error, folder)
    if (!ToolError.is(problem)) throw problem
    return { state: 'broken', folder, reason: problem.message }
  }
}
