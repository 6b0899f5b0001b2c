import { join } from 'node:path'
import type { Agent, Scope, Surroundings } from './agent.ts'

/** The folder of skills that many agents read: `.agents/skills`, in the project or in the home folder. */
export function sharedSkills(scope: Scope, { cwd, home }: Surroundings): string {
  return join(scope === 'project' ? cwd : home, '.agents', 'skills')
}

/** Whoever reads the shared folder, without being known by name. */
export const shared: Agent = {
  name: 'shared',
  traces: ({ cwd, home }) => ({
    paths: [join(cwd, '.agents'), join(home, '.agents')],
    programs: [],
  }),
  skills: sharedSkills,
}
