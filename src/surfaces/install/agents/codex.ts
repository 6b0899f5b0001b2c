import { join, resolve } from 'node:path'
import type { Agent, Surroundings } from './agent.ts'
import { sharedSkills } from './shared.ts'

/** Codex: `config.toml` in `~/.codex` or CODEX_HOME, and in `.codex` of a project that the user trusts. It refuses keys that it does not know. */
export const codex: Agent = {
  name: 'codex',
  traces: (here) => ({
    paths: [join(here.cwd, '.codex'), configFolder(here)],
    programs: ['codex'],
  }),
  servers: {
    file: (scope, here) =>
      join(scope === 'project' ? join(here.cwd, '.codex') : configFolder(here), 'config.toml'),
    format: 'toml',
    container: 'mcp_servers',
    entry: (server) =>
      server.transport === 'stdio'
        ? { command: server.command, args: server.args, env: server.env }
        : { url: server.url, http_headers: server.headers },
    fields: { env: 'env', headers: 'http_headers' },
  },
  skills: sharedSkills,
}

function configFolder({ env, cwd, home }: Surroundings): string {
  return resolve(cwd, env['CODEX_HOME'] || join(home, '.codex'))
}
