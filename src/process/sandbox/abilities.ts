import { ToolError } from '../../contract/tool-error.ts'
import type { Environment } from '../base-environment.ts'
import { findGroups } from '../cgroup/find-groups.ts'
import type { ChildEnd } from '../child-type.ts'
import type { Identity } from './tool/identity.ts'
import { findIdentity } from './tool/identity.ts'
import { tryToGetOut } from './trial.ts'

/** What this machine can enforce, found by trying it. */
export type Abilities = {
  /** The best level of a run. */
  readonly level: 'L1' | 'L3'
  /** Why it is not L3, in words; empty where it is. */
  readonly reasons: readonly string[]
  /** The same as an error, for whoever needs more. */
  readonly problem?: ToolError
  readonly details: {
    /** Files outside cannot be read or written, servers cannot be reached, and other processes are not seen. */
    readonly files: boolean
    readonly network: boolean
    readonly processes: boolean
    /** System calls are filtered, and no program gains rights. */
    readonly seccomp: boolean
    readonly privileges: boolean
    /** The kernel holds the number of processes of a tool down. */
    readonly nproc: boolean
    /** Who holds the memory of a whole tree down: the kernel, where a control group was given into our hands, otherwise a watchdog. */
    readonly memory: 'cgroup' | 'watchdog'
    /** Who tools are: the user who starts them, or whom root becomes. */
    readonly user:
      { readonly uid: number; readonly gid: number; readonly isDropped: boolean } | undefined
  }
}

const known = new Map<string, Promise<Abilities>>()

/** Finds out what can be enforced here, by a run that tries to get out. The answer is kept for each PATH as long as we run. */
export function findAbilities(env: Environment): Promise<Abilities> {
  const path = env['PATH'] ?? ''
  const found = known.get(path) ?? tryOut(path)
  known.set(path, found)
  return found
}

async function tryOut(path: string): Promise<Abilities> {
  const who = findIdentity()
  if (who instanceof Error) return without(who, undefined)
  const end = await tryToGetOut(path)
  if (end instanceof Error) return without(end, who)
  const could = new Set(end.stdout.toString().trim().split('\n'))
  if (!could.delete('tried')) return without(end.problem ?? new Error(explainTrial(end)), who)
  const holds = (what: string): boolean => !could.has(what)
  const details = {
    ...NOTHING,
    files: holds('files'),
    network: holds('network'),
    processes: holds('processes'),
    seccomp: holds('seccomp'),
    privileges: holds('privileges'),
    nproc: holds('nproc'),
    memory: (await findGroups()) ? ('cgroup' as const) : ('watchdog' as const),
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

const NOTHING = {
  files: false,
  network: false,
  processes: false,
  seccomp: false,
  privileges: false,
  nproc: false,
  memory: 'watchdog',
  user: undefined,
} as const

function without(why: Error, who: Identity | undefined): Abilities {
  const problem = ToolError.is(why)
    ? why
    : new ToolError('SANDBOX_UNAVAILABLE', `There is no sandbox: ${why.message}`, { cause: why })
  return { level: 'L1', reasons: [problem.message], problem, details: { ...NOTHING, user: who } }
}

function explainTrial({ reason, status, signal, stderr }: ChildEnd): string {
  return `a trial ended with ${reason === 'exited' ? `status ${status ?? signal}` : reason}: ${stderr.toString('utf8', 0, 300).trim().split('\n')[0]}`
}
