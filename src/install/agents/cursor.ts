import { join } from 'node:path'
import type { CodingAgent } from './agent.ts'
import { getSharedSkillsFolder } from './shared.ts'

/**
 * Cursor, the editor and its command line: `.cursor/mcp.json` in the project and in the home
 * folder.
 */
export const cursor: CodingAgent = {
  name: 'cursor',
  getTraces: ({ cwd, home }) => ({
    paths: [join(cwd, '.cursor'), join(home, '.cursor')],
    programs: ['cursor', 'cursor-agent'],
  }),
  servers: {
    getFile: (scope, { cwd, home }) =>
      join(scope === 'project' ? cwd : home, '.cursor', 'mcp.json'),
    format: 'jsonc',
    container: 'mcpServers',
    toEntry: (server) =>
      server.transport === 'stdio'
        ? { type: 'stdio', command: server.command, args: server.args, env: server.env }
        : { url: server.url, headers: server.headers },
    fields: { env: 'env', headers: 'headers' },
  },
  getSkillsFolder: getSharedSkillsFolder,
}
