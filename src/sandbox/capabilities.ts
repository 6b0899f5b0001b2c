/**
 * Finds out what this machine can enforce, by running a script that tries to escape from a real
 * sandbox.
 */

import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ChildEnd, ToolProfile } from '../process/child.ts'
import type { HostEnv } from '../process/environment.ts'
import type { EgressGrant } from '../process/grants.ts'
import { getOwnPid } from '../process/host.ts'
import { findProgram } from '../process/programs.ts'
import { runChild } from '../process/run.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { readFirstErrorLine } from './bubblewrap.ts'
import { findCgroupParent } from './cgroup.ts'
import type { SandboxUser } from './requirements.ts'
import { findSandboxUser, SYSTEM_PATH } from './requirements.ts'

/** What this machine can enforce, found by trying it. */
export type SandboxCapabilities = {
  /** The best level of a run. */
  readonly level: 'L1' | 'L3'
  /** Why it is not L3, in words; empty where it is. */
  readonly reasons: readonly string[]
  /** The same as an error, for whoever needs more. */
  readonly problem?: ToolError
  readonly details: {
    /**
     * Files outside cannot be read or written, servers cannot be reached, and other processes are
     * not seen.
     */
    readonly files: boolean
    readonly network: boolean
    readonly processes: boolean
    /** System calls are filtered, and no program gains rights. */
    readonly seccomp: boolean
    readonly privileges: boolean
    /** The kernel holds the number of processes of a tool down. */
    readonly nproc: boolean
    /**
     * Who holds the memory of a whole tree down: the kernel, where a control group was given into
     * our hands, otherwise a watchdog.
     */
    readonly memory: 'cgroup' | 'watchdog'
    /** Who tools are: the user who starts them, or whom root becomes. */
    readonly user:
      { readonly uid: number; readonly gid: number; readonly isDropped: boolean } | undefined
  }
}

const capabilitiesByPath = new Map<string, Promise<SandboxCapabilities>>()

/**
 * Finds out what can be enforced here, by a run that tries to get out. The answer is kept for each
 * PATH as long as we run.
 */
export function detectCapabilities(env: HostEnv): Promise<SandboxCapabilities> {
  const path = env['PATH'] ?? ''
  const found = capabilitiesByPath.get(path) ?? runDetection(path)
  capabilitiesByPath.set(path, found)
  return found
}

async function runDetection(path: string): Promise<SandboxCapabilities> {
  const who = findSandboxUser()
  if (who instanceof Error) return toMissingCapabilities(who, undefined)
  const end = await runEscapeTrial(path)
  if (end instanceof Error) return toMissingCapabilities(end, who)
  const could = new Set(end.stdout.toString().trim().split('\n'))
  if (!could.delete('tried'))
    return toMissingCapabilities(end.problem ?? new Error(describeTrialEnd(end)), who)
  const holds = (what: string): boolean => !could.has(what)
  const details = {
    ...NO_CAPABILITIES,
    files: holds('files'),
    network: holds('network'),
    processes: holds('processes'),
    seccomp: holds('seccomp'),
    privileges: holds('privileges'),
    nproc: holds('nproc'),
    memory: (await findCgroupParent()) ? ('cgroup' as const) : ('watchdog' as const),
    user: who,
  }
  if (could.size === 0) return { level: 'L3', reasons: [], details }
  const problem = new ToolError(
    'SANDBOX_UNAVAILABLE',
    `There is no sandbox: bubblewrap runs, but does not hold ${[...could].join(', ')}`,
    {
      suggestion:
        'Install the bubblewrap of your system: sudo apt-get install --reinstall bubblewrap',
    },
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
  user: undefined,
} as const

function toMissingCapabilities(why: Error, who: SandboxUser | undefined): SandboxCapabilities {
  const problem = ToolError.is(why)
    ? why
    : new ToolError('SANDBOX_UNAVAILABLE', `There is no sandbox: ${why.message}`, { cause: why })
  return {
    level: 'L1',
    reasons: [problem.message],
    problem,
    details: { ...NO_CAPABILITIES, user: who },
  }
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

/**
 * Runs what tries to get out of a sandbox of exactly the kind that tools get. Its stdout says what
 * it could, and `tried` at the end.
 */
async function runEscapeTrial(path: string): Promise<ChildEnd | Error> {
  const bash = findProgram('bash', '/bin:/usr/bin:/usr/local/bin')
  if (bash === undefined)
    return new ToolError(
      'SANDBOX_UNAVAILABLE',
      'There is no sandbox: bash, with which it is tried, is not installed',
      { suggestion: 'sudo apt-get install bash' },
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
      const command = [
        bash,
        '-c',
        ESCAPE_SCRIPT,
        'trial',
        secret,
        String(port),
        String(getOwnPid()),
      ] as const
      return runChild({
        command,
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

/**
 * Makes a file that everybody may read and a server that everybody may reach, so that nothing but
 * the sandbox is in the way, as long as `use` needs them.
 */
async function withTrialTargets<Result>(
  use: (outside: TrialTargets) => Promise<Result>,
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

const TRIAL_HOST = 'trial.test'
/** A port that needs a right to be listened on, as most servers have one. */
const PRIVILEGED_PORT = 443
const EGRESS_TRIAL_TIMEOUT_MS = 20_000

/**
 * Finds out, by a run that talks to a server of ours, whether tools here can be let to exact
 * servers. Resolves with the reason where they cannot.
 */
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
