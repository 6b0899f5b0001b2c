import { join, resolve } from 'node:path'
import type { AgentEnvironment, CodingAgent } from './agent.ts'
import { getSharedSkillsFolder } from './shared.ts'

/**
 * Codex: `config.toml` in `~/.codex` or CODEX_HOME, and in `.codex` of a project that the user
 * trusts. It refuses keys that it does not know.
 */
export const codex: CodingAgent = {
  name: 'codex',
  getTraces: (here) => ({
    paths: [join(here.cwd, '.codex'), getConfigFolder(here)],
    programs: ['codex'],
  }),
  servers: {
    getFile: (scope, here) =>
      join(scope === 'project' ? join(here.cwd, '.codex') : getConfigFolder(here), 'config.toml'),
    format: 'toml',
    container: 'mcp_servers',
    toEntry: (server) =>
      server.transport === 'stdio'
        ? { command: server.command, args: server.args, env: server.env }
        : { url: server.url, http_headers: server.headers },
    fields: { env: 'env', headers: 'http_headers' },
  },
  getSkillsFolder: getSharedSkillsFolder,
}

function getConfigFolder({ env, cwd, home }: AgentEnvironment): string {
  return resolve(cwd, env['CODEX_HOME'] || join(home, '.codex'))
}
