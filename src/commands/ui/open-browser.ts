import { devNull } from 'node:os'
import { host } from '../../call/host.ts'
import type { Io } from '../../contract/io.ts'
import { startDetached } from '../../process/start-detached.ts'

/** Opens an address in the browser of this machine; gives why that could not be begun, where it could not. */
export async function openBrowser(url: string, { cwd, env }: Io): Promise<Error | undefined> {
  const started = await startDetached(
    {
      command: commandFor(url),
      cwd,
      env: Object.fromEntries(
        Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
      ),
    },
    devNull,
  )
  return started instanceof Error ? started : undefined
}

function commandFor(url: string): readonly [string, ...string[]] {
  if (host.platform === 'darwin') return ['open', url]
  return host.platform === 'win32'
    ? ['rundll32', 'url.dll,FileProtocolHandler', url]
    : ['xdg-open', url]
}
