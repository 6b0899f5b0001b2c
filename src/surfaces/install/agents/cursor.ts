import { join } from 'node:path'
import type { Agent } from './agent.ts'
import { sharedSkills } from './shared.ts'

/** Cursor, the editor and its command line: `.cursor/mcp.json` in the project and in the home folder. */
export const cursor: Agent = {
  name: 'cursor',
  traces: ({ cwd, home }) => ({
    paths: [join(cwd, '.cursor'), join(home, '.cursor')],
    programs: ['cursor', 'cursor-agent'],
  }),
  servers: {
    file: (scope, { cwd, home }) => join(scope === 'project' ? cwd : home, '.cursor', 'mcp.json'),
    format: 'jsonc',
    container: 'mcpServers',
    entry: (server) =>
      server.transport === 'stdio'
        ? { type: 'stdio', command: server.command, args: server.args, env: server.env }
        : { url: server.url, headers: server.headers },
    fields: { env: 'env', headers: 'headers' },
  },
  skills: sharedSkills,
}
