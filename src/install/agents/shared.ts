import { join } from 'node:path'
import type { AgentEnvironment, CodingAgent, InstallScope } from './agent.ts'

/**
 * The folder of skills that many agents read: `.agents/skills`, in the project or in the home
 * folder.
 */
export function getSharedSkillsFolder(
  scope: InstallScope,
  { cwd, home }: AgentEnvironment,
): string {
  return join(scope === 'project' ? cwd : home, '.agents', 'skills')
}

/** Whoever reads the shared folder, without being known by name. */
export const sharedFolder: CodingAgent = {
  name: 'shared',
  getTraces: ({ cwd, home }) => ({
    paths: [join(cwd, '.agents'), join(home, '.agents')],
    programs: [],
  }),
  getSkillsFolder: getSharedSkillsFolder,
}
