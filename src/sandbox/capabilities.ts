/**
 * Finds out what this machine can enforce, by running a script that tries to escape from a real
 * sandbox.
 */

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { ChildEnd, ToolProfile } from '../process/child.ts'
import type { HostEnv } from '../process/environment.ts'
import type { EgressGrant } from '../process/grants.ts'
import { getOwnPid } from '../process/host.ts'
import { findProgram } from '../process/programs.ts'
import { runChild } from '../process/run.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { withTemporaryFolder } from '../util/files.ts'
import { readFirstErrorLine, toNoSandboxError } from './bubblewrap.ts'
import { findCgroupParent } from './cgroup.ts'
import type { SandboxUser } from './requirements.ts'
import { findSandboxUser, SYSTEM_PATH } from './requirements.ts'

/** What this machine can enforce. */
export type SandboxCapabilities = {
  /** The best level of a run. */
  readonly level: 'L1' | 'L3'
  /** Why it is not L3. */
  readonly reasons: readonly string[]
  /** The same as an error. */
  readonly problem?: ToolError
  readonly details: {
    /** Outside files, servers and other processes are out of reach. */
    readonly files: boolean
    readonly network: boolean
    readonly processes: boolean
    /** System calls are filtered, and no program gains privileges. */
    readonly seccomp: boolean
    readonly privileges: boolean
    /** The kernel limits the number of processes of a tool. */
    readonly nproc: boolean
    /** What limits the memory of a tree: the kernel, if a control group was delegated, or a watchdog. */
    readonly memory: 'cgroup' | 'watchdog'
    /** The user of tools: the one who starts them, or the one root changes to. */
    readonly user: SandboxUser | undefined
  }
}

const capabilitiesByPath = new Map<string, Promise<SandboxCapabilities>>()

/** Detects what can be enforced here, by a run that tries to escape, once for each PATH. */
export function detectCapabilities(env: HostEnv): Promise<SandboxCapabilities> {
  const path = env['PATH'] ?? ''
  const found = capabilitiesByPath.get(path) ?? runDetection(path)
  capabilitiesByPath.set(path, found)
  return found
}

async function runDetection(path: string): Promise<SandboxCapabilities> {
  const user = findSandboxUser()
  if (user instanceof Error) return toMissingCapabilities(user, undefined)
  const end = await runEscapeTrial(path)
  if (end instanceof Error) return toMissingCapabilities(end, user)
  const could = new Set(end.stdout.toString().trim().split('\n'))
  if (!could.delete('tried'))
    return toMissingCapabilities(end.problem ?? new Error(describeTrialEnd(end)), user)
  const details = {
    files: !could.has('files'),
    network: !could.has('network'),
    processes: !could.has('processes'),
    seccomp: !could.has('seccomp'),
    privileges: !could.has('privileges'),
    nproc: !could.has('nproc'),
    memory: (await findCgroupParent()) ? 'cgroup' : 'watchdog',
    user,
  } as const
  if (could.size === 0) return { level: 'L3', reasons: [], details }
  const problem = toNoSandboxError(
    `bubblewrap runs, but does not hold ${[...could].join(', ')}`,
    'Install the bubblewrap of your system: sudo apt-get install --reinstall bubblewrap',
  )
  return { level: 'L1', reasons: [problem.message], problem, details }
}

const NO_CAPABILITIES = {
  files: false,
  network: false,
  processes: false,
  seccomp: false,
  privileges: false,
  nproc: false,
  memory: 'watchdog',
} as const

function toMissingCapabilities(why: Error, user: SandboxUser | undefined): SandboxCapabilities {
  const problem = ToolError.is(why)
    ? why
    : new ToolError('SANDBOX_UNAVAILABLE', `There is no sandbox: ${why.message}`, { cause: why })
  return { level: 'L1', reasons: [problem.message], problem, details: { ...NO_CAPABILITIES, user } }
}

function describeTrialEnd({ reason, status, signal, stderr }: ChildEnd): string {
  return `a trial ended with ${reason === 'exited' ? `status ${status ?? signal}` : reason}: ${stderr.toString('utf8', 0, 300).trim().split('\n')[0]}`
}

const TRIAL_PROCESS_LIMIT = 1000
const TRIAL_TIMEOUT_MS = 20_000

/**
 * Tries what it should not be able to do; each line that it prints is something that it could.
 * Arguments: a file and a port outside, and a process of the machine.
 */
const ESCAPE_SCRIPT = `cat "$1" >/dev/null 2>&1 && echo files
(exec 3<>"/dev/tcp/127.0.0.1/$2") 2>/dev/null && echo network
[ -e "/proc/$3/status" ] && [ "$3" -gt 100 ] && echo processes
while read -r name value; do
  case $name$value in
    Seccomp:2 | NoNewPrivs:1 | CapEff:0000000000000000) ;;
    Seccomp:*) echo seccomp ;;
    NoNewPrivs:* | CapEff:*) echo privileges ;;
  esac
done </proc/self/status
[ "$(ulimit -u)" = ${TRIAL_PROCESS_LIMIT} ] || echo nproc
echo tried`

/** Runs the escape script in a sandbox as tools get it. Its stdout lists what it could do, then `tried`. */
async function runEscapeTrial(path: string): Promise<ChildEnd | Error> {
  const bash = findProgram('bash', '/bin:/usr/bin:/usr/local/bin')
  if (bash === undefined)
    return toNoSandboxError(
      'bash, with which it is tried, is not installed',
      'sudo apt-get install bash',
    )
  try {
    return await withTrialTargets(({ secret, workspace, port }) => {
      const grants: ToolProfile['grants'] = {
        read: [],
        write: [],
        network: 'none',
        limits: { processes: TRIAL_PROCESS_LIMIT },
        secrets: [],
      }
      return runChild({
        command: [bash, '-c', ESCAPE_SCRIPT, 'trial', secret, `${port}`, `${getOwnPid()}`],
        cwd: workspace,
        env: { PATH: path, LC_ALL: 'C' },
        timeout: TRIAL_TIMEOUT_MS,
        sandbox: { grants, workspace, readable: [], searchPath: path },
      })
    })
  } catch (error) {
    return error as Error
  }
}

type TrialTargets = { readonly secret: string; readonly workspace: string; readonly port: number }

/** Creates a readable file and a reachable server while `use` runs, so that only the sandbox protects them. */
async function withTrialTargets<Result>(
  use: (outside: TrialTargets) => Promise<Result>,
): Promise<Result> {
  const { createServer } = await import('node:net')
  return withTemporaryFolder('toolable-trial-', async (folder) => {
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
    }
  })
}

const TRIAL_HOST = 'trial.test'
/** Proves that listeners can be opened on privileged ports, which most servers have. */
const PRIVILEGED_PORT = 443
const EGRESS_TRIAL_TIMEOUT_MS = 20_000

/** Tries whether tools can be restricted to exact servers. Resolves to the reason if they cannot. */
export async function runEgressTrial(path: string): Promise<Error | undefined> {
  try {
    return await withTrialTargets(async ({ workspace, port }) => {
      let isMade = false
      const network = [port, PRIVILEGED_PORT].map((each): EgressGrant => ({
        host: TRIAL_HOST,
        port: each,
        local: true,
      }))
      const end = await runChild({
        command: [
          findProgram('bash', SYSTEM_PATH) ?? 'bash',
          '-c',
          `exec 3<>/dev/tcp/${TRIAL_HOST}/${port}; cat <&3`,
        ],
        cwd: workspace,
        env: { PATH: path, LC_ALL: 'C' },
        timeout: EGRESS_TRIAL_TIMEOUT_MS,
        sandbox: {
          grants: { read: [], write: [], network, limits: {}, secrets: [] },
          workspace,
          readable: [],
          searchPath: path,
          onConnection: ({ address }) => {
            isMade ||= address !== undefined
          },
        },
      })
      return isMade
        ? undefined
        : (end.problem ?? new Error(readFirstErrorLine(end) || 'the tool reached nobody'))
    })
  } catch (error) {
    return error as Error
  }
}
