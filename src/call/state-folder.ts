import { homedir } from 'node:os'
import { join } from 'node:path'
import { host } from './host.ts'

type Env = { readonly [name: string]: string | undefined }

/** Where this platform keeps what programs remember between runs. */
export function stateFolder(env: Env, platform: string = host.platform): string {
  const home = env['HOME'] || env['USERPROFILE'] || homedir()
  if (env['XDG_STATE_HOME']) return join(env['XDG_STATE_HOME'], 'toolable')
  if (platform === 'win32')
    return join(env['LOCALAPPDATA'] || join(home, 'AppData', 'Local'), 'toolable', 'state')
  if (platform === 'darwin')
    return join(home, 'Library', 'Application Support', 'toolable', 'state')
  return join(home, '.local', 'state', 'toolable')
}
