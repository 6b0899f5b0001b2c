/**
 * Resource limits for a child without a sandbox: rlimits for each process, the watchdog for the
 * tree, and a shell that kills the tree when this process dies.
 */

import type { StdioOptions } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { maskInheritedDescriptors } from '../process/channels.ts'
import type {
  ChildOptions,
  LaunchPlan,
  PreparedLaunch,
  ProcessController,
} from '../process/child.ts'
import { createGroupController } from '../process/child.ts'
import type { ResourceLimits } from '../process/grants.ts'
import { sendSignal } from '../process/host.ts'
import { listPidsAfter, readProcess } from '../process/process-table.ts'
import { DEFAULT_PATH, findProgram } from '../process/programs.ts'
import { MEBIBYTE } from '../util/units.ts'
import { compact } from '../util/values.ts'
import { explainLimitedEnd } from './bubblewrap.ts'
import { watchLimits } from './watchdog.ts'

/**
 * Limits for a child that has no sandbox. A program that is not there is started as it is, so that
 * the system says what is wrong with it.
 */
export async function prepare(options: ChildOptions): Promise<PreparedLaunch> {
  const { command, cwd, env, limits = {} } = options
  const isThere = findProgram(command[0], env['PATH'], cwd) !== undefined
  const limited = isThere
    ? buildLimitCommand(toProcessLimits(limits, false), findProgram('prlimit', DEFAULT_PATH))
    : []
  const deathWatch = await openParentDeathWatch()
  const mark = getRunIdTag(env)
  const take: LaunchPlan['attach'] = (_child, pid) => {
    const controller = createGroupController(pid, true)
    const clear = async (): Promise<void> => {
      await controller.cleanUp()
      if (mark !== undefined) killTagged(mark, pid)
    }
    return deathWatch.guard(pid, { ...controller, cleanUp: clear }, mark)
  }
  return {
    plan: {
      command: [...limited, ...command] as unknown as ChildOptions['command'],
      cwd,
      env,
      descriptors: [],
      attach: take,
    },
    watch: (root, onReached, input) =>
      watchLimits(limits, { countProcesses: true, input }, root, onReached),
    explain: (end) => explainLimitedEnd(end, options),
  }
}

const MAX_OPEN_FILES = 4096

/**
 * What the kernel holds each single process to. The sums of a tree are watched; these stop the one
 * that is too fast to be watched.
 */
type ProcessLimits = {
  readonly [name in 'core' | 'cpu' | 'data' | 'fsize' | 'nofile' | 'nproc']?: number
}

/**
 * The limits of each process that follow from those of a tree. `nproc` counts all processes of a
 * user, so that it only makes sense in a user namespace.
 * Address space is left alone: Node and Java reserve far more of it than they use.
 */
export function toProcessLimits(
  { cpuSeconds, memoryMb, processes, fileMb, workspaceMb }: ResourceLimits,
  inUserNamespace: boolean,
): ProcessLimits {
  const largest = Math.min(fileMb ?? Infinity, workspaceMb ?? Infinity)
  return compact({
    // Not 0: programs of the machine that collect crashes are started all the same then, and would
    // put the memory of a tool on its disk.
    core: 1,
    nofile: MAX_OPEN_FILES,
    // One second more than the tree has, which is ended with a reason that says why.
    cpu: cpuSeconds !== undefined ? Math.ceil(cpuSeconds) + 1 : undefined,
    data: memoryMb !== undefined ? Math.floor(memoryMb * MEBIBYTE) : undefined,
    fsize: Number.isFinite(largest) ? Math.floor(largest * MEBIBYTE) : undefined,
    nproc: processes !== undefined && inUserNamespace ? processes : undefined,
  })
}

/**
 * The words that set these limits: before the command where `prlimit` does it, otherwise a shell.
 * Never above what we may set ourselves.
 */
export function buildLimitCommand(
  limits: ProcessLimits,
  prlimit: string | undefined,
): [string, ...string[]] {
  const allowed = Object.entries(limits).map(
    ([name, value]) => [name, Math.min(value, readHardLimit(name))] as const,
  )
  if (prlimit !== undefined)
    return [prlimit, ...allowed.map(([name, value]) => `--${name}=${value}`), '--']
  const script = allowed
    .flatMap(([name, value]) => ULIMIT_ARGUMENTS[name]?.(value) ?? [])
    .map((words) => `ulimit ${words} || exit 126; `)
  return ['/bin/sh', '-c', `${script.join('')}exec "$@"`, 'sh']
}

const ULIMIT_ARGUMENTS: { readonly [name: string]: (value: number) => string } = {
  core: () => '-c 0',
  cpu: (value) => `-t ${value}`,
  data: (value) => `-d ${Math.floor(value / 1024)}`,
  fsize: (value) => `-f ${Math.floor(value / 512)}`,
  nofile: (value) => `-n ${value}`,
}

const PROC_LIMIT_NAMES: { readonly [name: string]: string } = {
  core: 'Max core file size',
  cpu: 'Max cpu time',
  data: 'Max data size',
  fsize: 'Max file size',
  nofile: 'Max open files',
  nproc: 'Max processes',
}

let ownLimits: string | undefined

// The second column, after the name and the limit that is in force.
function readHardLimit(name: string): number {
  try {
    ownLimits ??= readFileSync('/proc/self/limits', 'latin1')
    const line = ownLimits
      .split('\n')
      .find((candidate) => candidate.startsWith(PROC_LIMIT_NAMES[name]!))
    const value = line?.slice(PROC_LIMIT_NAMES[name]!.length).trim().split(/\s+/)[1]
    return value === undefined || value === 'unlimited' ? Infinity : Number(value)
  } catch {
    return Infinity
  }
}

/**
 * Reads lines `+ pid mark` and `- pid mark`. At the end of its input, which comes however our
 * process ends, it kills the groups and sessions of the processes that it
 * still knows, all that descends from them, and all that has one of the marks in its environment.
 * In `stat` a process has its number in front, then its name in
 * brackets, its state, parent, group and session.
 */
const WATCH_SCRIPT = `trap '' HUP INT TERM PIPE
known=' ' marks=' '
while read -r sign pid mark; do
  case $sign in
    +) known="$known$pid " marks="$marks$mark " ;;
    -) case $known in *" $pid "*) known="\${known%% $pid *} \${known#* $pid }" ;; esac
       case $marks in *" $mark "*) marks="\${marks%% $mark *} \${marks#* $mark }" ;; esac ;;
  esac
done
[ "$known" = ' ' ] && exit
for round in 1 2 3; do
  for file in /proc/[0-9]*/stat; do
    { read -r line <"$file"; } 2>/dev/null || continue
    pid=\${line%% *}
    set -- \${line##*) }
    case $known in *" $pid "*) continue ;; *" $2 "* | *" $3 "* | *" $4 "*) known="$known$pid " ;; esac
  done
done
for pid in $known; do
  kill -KILL "-$pid" "$pid"
done 2>/dev/null
for mark in $marks; do
  [ "$mark" = - ] && continue
  for file in $(grep -lzxF "$mark" /proc/[0-9]*/environ); do
    pid=\${file#/proc/}
    kill -KILL "\${pid%/*}"
  done
done 2>/dev/null`

/** Who kills our children when we cannot any more. */
type ParentDeathWatch = {
  /**
   * `mark` is a variable of the child, as `name=value`, by which also those are found that left
   * everything else behind.
   */
  guard(pid: number, controller: ProcessController, mark: string | undefined): ProcessController
}

let parentDeathWatch: Promise<ParentDeathWatch> | undefined

/**
 * The one deathWatch of our process: a small shell that outlives us. Where it cannot be started,
 * children are only ended by ourselves.
 */
export function openParentDeathWatch(): Promise<ParentDeathWatch> {
  parentDeathWatch ??= startParentDeathWatch()
  return parentDeathWatch
}

async function startParentDeathWatch(): Promise<ParentDeathWatch> {
  const { spawn } = await import('node:child_process')
  const stdio: unknown[] = ['pipe', 'ignore', 'ignore']
  const uncover = maskInheritedDescriptors(stdio)
  const shell = spawn('/bin/sh', ['-c', WATCH_SCRIPT], {
    cwd: '/',
    env: {},
    stdio: stdio as StdioOptions,
    detached: true,
  })
  uncover()
  const input = shell.stdin
  const forget = (): void => {
    parentDeathWatch = undefined
  }
  shell.on('error', forget).on('exit', forget).unref()
  input?.on('error', () => {})
  ;(input as { unref?(): void } | null)?.unref?.()
  const tell = (words: string): void => {
    if (input?.writable) input.write(words)
  }
  return {
    guard(pid, controller, mark = '-') {
      tell(`+ ${pid} ${mark}\n`)
      const clear = async (): Promise<void> => {
        await controller.cleanUp()
        tell(`- ${pid} ${mark}\n`)
      }
      return { ...controller, cleanUp: clear }
    },
  }
}

/** The variable by which the processes of a run are known, as `name=value`, where they have one. */
function getRunIdTag(env: { readonly [name: string]: string }): string | undefined {
  const id = env['RUN_ID']
  return id !== undefined && /^[\w-]{4,64}$/.test(id) ? `RUN_ID=${id}` : undefined
}

/**
 * Kills what carries the mark and was started after its first process: daemons that left group and
 * session. Only those hide that also changed their environment.
 */
function killTagged(mark: string, first: number): void {
  for (const pid of listPidsAfter(first))
    if (hasTag(pid, mark) && readProcess(pid)) sendSignal(pid, 'SIGKILL')
}

function hasTag(pid: number, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(mark)
  } catch {
    return false
  }
}
