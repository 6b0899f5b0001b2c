import { join, resolve } from 'node:path'
import type { AgentEnvironment, CodingAgent } from './agent.ts'
import { getSharedSkillsFolder } from './shared.ts'

/**
 * VS Code: `.vscode/mcp.json` in the project, and `mcp.json` of the default profile, which lies
 * where the platform keeps settings.
 */
export const vscode: CodingAgent = {
  name: 'vscode',
  getTraces: (here) => ({
    paths: [join(here.cwd, '.vscode'), getProfileFolder(here)],
    programs: ['code'],
  }),
  servers: {
    getFile: (scope, here) =>
      join(scope === 'project' ? join(here.cwd, '.vscode') : getProfileFolder(here), 'mcp.json'),
    format: 'jsonc',
    container: 'servers',
    toEntry: (server) =>
      server.transport === 'stdio'
        ? { type: 'stdio', command: server.command, args: server.args, env: server.env }
        : { type: 'http', url: server.url, headers: server.headers },
    fields: { env: 'env', headers: 'headers' },
  },
  getSkillsFolder: getSharedSkillsFolder,
}

function getProfileFolder({ env, cwd, home, platform }: AgentEnvironment): string {
  const settings =
    platform === 'win32'
      ? env['APPDATA'] || join(home, 'AppData', 'Roaming')
      : platform === 'darwin'
        ? join(home, 'Library', 'Application Support')
        : env['XDG_CONFIG_HOME'] || join(home, '.config')
  return resolve(cwd, settings, 'Code', 'User')
}
