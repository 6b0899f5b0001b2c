import { join } from 'node:path'
import type { AgentDefinition } from './agent.ts'
import { getSharedSkillsFolder } from './agent.ts'

/** Any agent that reads the shared folder of skills, without being known by name. */
export const agent: AgentDefinition = {
  getTraces: ({ cwd, home }) => ({
    paths: [join(cwd, '.agents'), join(home, '.agents')],
    programs: [],
  }),
  getSkillsFolder: getSharedSkillsFolder,
}
