import { join, resolve } from 'node:path'
import type { AgentDefinition, AgentEnvironment } from './agent.ts'
import { getSharedSkillsFolder } from './agent.ts'

/**
 * VS Code: `.vscode/mcp.json` in the project, and `mcp.json` of the default profile, which lies
 * where the platform keeps settings.
 */
export const agent: AgentDefinition = {
  getTraces: (here) => ({
    paths: [join(here.cwd, '.vscode'), getProfileFolder(here)],
    programs: ['code'],
  }),
  servers: {
    getFile: (scope, here) =>
      join(scope === 'project' ? join(here.cwd, '.vscode') : getProfileFolder(here), 'mcp.json'),
    format: 'jsonc',
    container: 'servers',
    types: { stdio: 'stdio', http: 'http' },
  },
  getSkillsFolder: getSharedSkillsFolder,
}

function getProfileFolder(here: AgentEnvironment): string {
  return resolve(here.cwd, getSettingsFolder(here), 'Code', 'User')
}

function getSettingsFolder({ env, home, platform }: AgentEnvironment): string {
  if (platform === 'win32') return env['APPDATA'] || join(home, 'AppData', 'Roaming')
  if (platform === 'darwin') return join(home, 'Library', 'Application Support')
  return env['XDG_CONFIG_HOME'] || join(home, '.config')
}
