import { join } from 'node:path'
import { host } from './host.ts'

type Env = { readonly [name: string]: string | undefined }

/** Where this platform keeps what can be found out again. */
export async function cacheFolder(env: Env, platform: string = host.platform): Promise<string> {
  if (env['XDG_CACHE_HOME']) return join(env['XDG_CACHE_HOME'], 'toolable')
  const home = env['HOME'] || env['USERPROFILE'] || (await import('node:os')).homedir()
  if (platform === 'win32')
    return join(env['LOCALAPPDATA'] || join(home, 'AppData', 'Local'), 'toolable', 'cache')
  if (platform === 'darwin') return join(home, 'Library', 'Caches', 'toolable')
  return join(home, '.cache', 'toolable')
}
