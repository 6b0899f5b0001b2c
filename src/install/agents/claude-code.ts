import { join, resolve } from 'node:path'
import type { AgentDefinition, AgentEnvironment } from './agent.ts'

/**
 * Claude Code: `.mcp.json` in the project, the user's in `~/.claude.json`; with CLAUDE_CONFIG_DIR
 * both the folder and that file move.
 */
export const agent: AgentDefinition = {
  getTraces: (here) => ({
    paths: [
      join(here.cwd, '.claude'),
      join(here.cwd, '.mcp.json'),
      getConfigFolder(here),
      getUserFile(here),
    ],
    programs: ['claude'],
  }),
  servers: {
    getFile: (scope, here) =>
      scope === 'project' ? join(here.cwd, '.mcp.json') : getUserFile(here),
    format: 'jsonc',
    container: 'mcpServers',
    types: { stdio: 'stdio', http: 'http' },
  },
  getSkillsFolder: (scope, here) =>
    join(scope === 'project' ? join(here.cwd, '.claude') : getConfigFolder(here), 'skills'),
}

function getConfigFolder({ env, cwd, home }: AgentEnvironment): string {
  return resolve(cwd, env['CLAUDE_CONFIG_DIR'] || join(home, '.claude'))
}

function getUserFile({ env, cwd, home }: AgentEnvironment): string {
  return resolve(cwd, env['CLAUDE_CONFIG_DIR'] || home, '.claude.json')
}
