import { join, resolve } from 'node:path'
import type { Agent, Surroundings } from './agent.ts'

/** Claude Code: `.mcp.json` in the project, the user's in `~/.claude.json`; with CLAUDE_CONFIG_DIR both the folder and that file move. */
export const claudeCode: Agent = {
  name: 'claude-code',
  traces: (here) => ({
    paths: [
      join(here.cwd, '.claude'),
      join(here.cwd, '.mcp.json'),
      configFolder(here),
      userFile(here),
    ],
    programs: ['claude'],
  }),
  servers: {
    file: (scope, here) => (scope === 'project' ? join(here.cwd, '.mcp.json') : userFile(here)),
    format: 'jsonc',
    container: 'mcpServers',
    entry: (server) =>
      server.transport === 'stdio'
        ? { type: 'stdio', command: server.command, args: server.args, env: server.env }
        : { type: 'http', url: server.url, headers: server.headers },
    fields: { env: 'env', headers: 'headers' },
  },
  skills: (scope, here) =>
    join(scope === 'project' ? join(here.cwd, '.claude') : configFolder(here), 'skills'),
}

function configFolder({ env, cwd, home }: Surroundings): string {
  return resolve(cwd, env['CLAUDE_CONFIG_DIR'] || join(home, '.claude'))
}

function userFile({ env, cwd, home }: Surroundings): string {
  return resolve(cwd, env['CLAUDE_CONFIG_DIR'] || home, '.claude.json')
}
