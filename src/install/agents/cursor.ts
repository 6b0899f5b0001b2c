import { join } from 'node:path'
import type { AgentDefinition } from './agent.ts'
import { getSharedSkillsFolder } from './agent.ts'

/**
 * Cursor, the editor and its command line: `.cursor/mcp.json` in the project and in the home
 * folder.
 */
export const agent: AgentDefinition = {
  getTraces: ({ cwd, home }) => ({
    paths: [join(cwd, '.cursor'), join(home, '.cursor')],
    programs: ['cursor', 'cursor-agent'],
  }),
  servers: {
    getFile: (scope, { cwd, home }) =>
      join(scope === 'project' ? cwd : home, '.cursor', 'mcp.json'),
    format: 'jsonc',
    container: 'mcpServers',
    types: { stdio: 'stdio' },
  },
  getSkillsFolder: getSharedSkillsFolder,
}
