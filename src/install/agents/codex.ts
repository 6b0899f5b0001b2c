import { join, resolve } from 'node:path'
import type { AgentDefinition, AgentEnvironment } from './agent.ts'
import { getSharedSkillsFolder } from './agent.ts'

/**
 * Codex: `config.toml` in `~/.codex` or CODEX_HOME, and in `.codex` of a project that the user
 * trusts. It refuses keys that it does not know.
 */
export const agent: AgentDefinition = {
  getTraces: (here) => ({
    paths: [join(here.cwd, '.codex'), getConfigFolder(here)],
    programs: ['codex'],
  }),
  servers: {
    getFile: (scope, here) =>
      join(scope === 'project' ? join(here.cwd, '.codex') : getConfigFolder(here), 'config.toml'),
    format: 'toml',
    container: 'mcp_servers',
    headersField: 'http_headers',
  },
  getSkillsFolder: getSharedSkillsFolder,
}

function getConfigFolder({ env, cwd, home }: AgentEnvironment): string {
  return resolve(cwd, env['CODEX_HOME'] || join(home, '.codex'))
}
