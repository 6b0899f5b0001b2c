import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ToolError } from '../../contract/tool-error.ts'
import type { ChildEnd } from '../child-type.ts'
import { findProgram } from '../find-program.ts'
import { ownPid } from '../host.ts'
import { runChild } from '../run-child.ts'
import type { ToolProfile } from './profile.ts'

const NPROC = 1000
const TRIAL_TIME = 20_000

/** Tries what it should not be able to do; each line that it prints is something that it could. Arguments: a file and a port outside, and a process of the machine. */
const TRIAL = `cat "$1" >/dev/null 2>&1 && echo files
(exec 3<>"/dev/tcp/127.0.0.1/$2") 2>/dev/null && echo network
[ -e "/proc/$3/status" ] && [ "$3" -gt 100 ] && echo processes
while read -r name value; do
  case $name$value in
    Seccomp:2 | NoNewPrivs:1 | CapEff:0000000000000000) ;;
    Seccomp:*) echo seccomp ;;
    NoNewPrivs:* | CapEff:*) echo privileges ;;
  esac
done </proc/self/status
[ "$(ulimit -u)" = ${NPROC} ] || echo nproc
echo tried`

/** Runs what tries to get out of a sandbox of exactly the kind that tools get. Its stdout says what it could, and `tried` at the end. */
export async function tryToGetOut(path: string): Promise<ChildEnd | Error> {
  const bash = findProgram('bash', '/bin:/usr/bin:/usr/local/bin')
  if (bash === undefined)
    return new ToolError(
      'SANDBOX_UNAVAILABLE',
      'There is no sandbox: bash, with which it is tried, is not installed',
      { suggestion: 'sudo apt-get install bash' },
    )
  try {
    return await withOutside(({ secret, workspace, port }) => {
      const grants: ToolProfile['grants'] = {
        read: [],
        write: [],
        network: 'none',
        limits: { processes: NPROC },
        secrets: [],
      }
      const command = [bash, '-c', TRIAL, 'trial', secret, String(port), String(ownPid())] as const
      return runChild({
        command,
        cwd: workspace,
        env: { PATH: path, LC_ALL: 'C' },
        timeout: TRIAL_TIME,
        sandbox: { grants, workspace, readable: [], searchPath: path },
      })
    })
  } catch (error) {
    return error as Error
  }
}

type Outside = { readonly secret: string; readonly workspace: string; readonly port: number }

/** Makes a file that everybody may read and a server that everybody may reach, so that nothing but the sandbox is in the way, as long as `use` needs them. */
export async function withOutside<Result>(
  use: (outside: Outside) => Promise<Result>,
): Promise<Result> {
  const { createServer } = await import('node:net')
  const folder = mkdtempSync(join(tmpdir(), 'toolable-trial-'))
  const server = createServer((socket) => socket.destroy())
  try {
    chmodSync(folder, 0o777)
    const [secret, workspace] = [join(folder, 'secret'), join(folder, 'workspace')]
    writeFileSync(secret, 'secret', { mode: 0o644 })
    mkdirSync(workspace)
    await new Promise<void>((resolve, reject) =>
      server.once('error', reject).listen(0, '127.0.0.1', resolve),
    )
    return await use({ secret, workspace, port: (server.address() as AddressInfo).port })
  } finally {
    server.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
