import { join, resolve } from 'node:path'
import type { Agent, Surroundings } from './agent.ts'
import { sharedSkills } from './shared.ts'

/** VS Code: `.vscode/mcp.json` in the project, and `mcp.json` of the default profile, which lies where the platform keeps settings. */
export const vscode: Agent = {
  name: 'vscode',
  traces: (here) => ({
    paths: [join(here.cwd, '.vscode'), profileFolder(here)],
    programs: ['code'],
  }),
  servers: {
    file: (scope, here) =>
      join(scope === 'project' ? join(here.cwd, '.vscode') : profileFolder(here), 'mcp.json'),
    format: 'jsonc',
    container: 'servers',
    entry: (server) =>
      server.transport === 'stdio'
        ? { type: 'stdio', command: server.command, args: server.args, env: server.env }
        : { type: 'http', url: server.url, headers: server.headers },
    fields: { env: 'env', headers: 'headers' },
  },
  skills: sharedSkills,
}

function profileFolder({ env, cwd, home, platform }: Surroundings): string {
  const settings =
    platform === 'win32'
      ? env['APPDATA'] || join(home, 'AppData', 'Roaming')
      : platform === 'darwin'
        ? join(home, 'Library', 'Application Support')
        : env['XDG_CONFIG_HOME'] || join(home, '.config')
  return resolve(cwd, settings, 'Code', 'User')
}
