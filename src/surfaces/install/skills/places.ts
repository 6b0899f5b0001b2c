import { realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Agent, Scope, Surroundings } from '../agents/agent.ts'

/** A folder for a skill, and the agents that read it. */
export type SkillPlace = {
  readonly folder: string
  readonly scope: Scope
  readonly agents: readonly string[]
}

/** The folders of some agents, each once however many of them read it. */
export function skillPlaces(
  agents: readonly Agent[],
  scope: Scope,
  name: string,
  surroundings: Surroundings,
): readonly SkillPlace[] {
  const readers = new Map<string, string[]>()
  for (const agent of agents) {
    const folder = join(behindLinks(agent.skills(scope, surroundings)), name)
    readers.set(folder, [...(readers.get(folder) ?? []), agent.name])
  }
  return [...readers].map(([folder, names]) => ({ folder, scope, agents: names }))
}

// One folder of skills is often a link to another.
function behindLinks(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    // A path that cannot be followed is told about when it is used.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) return path
    return join(behindLinks(dirname(path)), basename(path))
  }
}
