/**
 * Resource limits for a child without a sandbox: rlimits for each process, the watchdog for the
 * tree, and a shell that kills the tree when this process dies.
 */

import type { StdioOptions } from 'node:child_process'
import { maskInheritedDescriptors } from '../process/channels.ts'
import type { ChildOptions, PreparedLaunch, ProcessController } from '../process/child.ts'
import { createGroupController } from '../process/child.ts'
import type { ResourceLimits } from '../process/grants.ts'
import { sendSignal } from '../process/host.ts'
import { listPidsAfter, readProcess } from '../process/process-table.ts'
import { DEFAULT_PATH, findProgram } from '../process/programs.ts'
import { readTextFile } from '../util/files.ts'
import { MEBIBYTE } from '../util/units.ts'
import { compact, once } from '../util/values.ts'
import { explainLimitedEnd } from './bubblewrap.ts'
import { watchLimits } from './watchdog.ts'

/**
 * Prepares limits for a child without a sandbox. A program that does not exist is started directly,
 * so that the error is about the program and not about prlimit.
 */
export async function prepareLimits(options: ChildOptions): Promise<PreparedLaunch> {
  const { command, cwd, env, limits = {} } = options
  const exists = findProgram(command[0], env['PATH'], cwd) !== undefined
  const limited = exists
    ? buildLimitCommand(toProcessLimits(limits, false), findProgram('prlimit', DEFAULT_PATH))
    : []
  const deathWatch = await openParentDeathWatch()
  const tag = getRunIdTag(env)
  return {
    plan: {
      command: [...limited, ...command] as unknown as ChildOptions['command'],
      cwd,
      env,
      descriptors: [],
      attach: (_child, pid) => {
        const controller = createGroupController(pid, true)
        const cleanUp = async (): Promise<void> => {
          await controller.cleanUp()
          if (tag !== undefined) killTagged(tag, pid)
        }
        return deathWatch.guard(pid, { ...controller, cleanUp }, tag)
      },
    },
    watch: (root, onReached, input) =>
      watchLimits(limits, { countProcesses: true, input }, root, onReached),
    explain: (end) => explainLimitedEnd(end, options),
  }
}

const MAX_OPEN_FILES = 4096

/** Limits that the kernel enforces for each process, for one that is too fast for the watchdog. */
type ProcessLimits = {
  readonly [name in 'core' | 'cpu' | 'data' | 'fsize' | 'nofile' | 'nproc']?: number
}

/**
 * Derives the limits of each process from those of the tree. `nproc` counts all processes of a user,
 * so it is only used in a user namespace. Address space is not limited: Node and Java reserve far
 * more than they use.
 */
export function toProcessLimits(
  { cpuSeconds, memoryMb, processes, fileMb, workspaceMb }: ResourceLimits,
  inUserNamespace: boolean,
): ProcessLimits {
  const largest = Math.min(fileMb ?? Infinity, workspaceMb ?? Infinity)
  return compact({
    // With 0, crash collectors of the machine would still start and write the memory to its disk.
    core: 1,
    nofile: MAX_OPEN_FILES,
    // One second more than the tree has, so that the watchdog ends it first, with a reason.
    cpu: cpuSeconds !== undefined ? Math.ceil(cpuSeconds) + 1 : undefined,
    data: memoryMb !== undefined ? Math.floor(memoryMb * MEBIBYTE) : undefined,
    fsize: Number.isFinite(largest) ? Math.floor(largest * MEBIBYTE) : undefined,
    nproc: processes !== undefined && inUserNamespace ? processes : undefined,
  })
}

/** Builds the command prefix that sets these limits, with prlimit or a shell, up to our hard limits. */
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
    .map((option) => `ulimit ${option} || exit 126; `)
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

const readOwnLimits = once(() => readTextFile('/proc/self/limits') ?? '')

// The second column, after the name and the soft limit.
function readHardLimit(name: string): number {
  const title = PROC_LIMIT_NAMES[name]!
  const line = readOwnLimits()
    .split('\n')
    .find((candidate) => candidate.startsWith(title))
  const value = line?.slice(title.length).trim().split(/\s+/)[1]
  return value === undefined || value === 'unlimited' ? Infinity : Number(value)
}

/**
 * Reads lines `+ pid tag` and `- pid tag`. Its input ends when this process ends; then it kills the
 * remaining processes, their groups, sessions and descendants, and all processes with one of the
 * tags in their environment. In `stat`, the name in brackets is followed by state, parent, group and
 * session.
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

/** Kills our children when this process dies. */
type ParentDeathWatch = {
  /** `tag`: a variable of the child, as `name=value`, that also finds daemons it started. */
  guard(pid: number, controller: ProcessController, tag?: string): ProcessController
}

let parentDeathWatch: Promise<ParentDeathWatch> | undefined

/**
 * Starts the death watch of this process once: a small shell that outlives it. Without the shell,
 * only this process ends its children.
 */
export function openParentDeathWatch(): Promise<ParentDeathWatch> {
  parentDeathWatch ??= startParentDeathWatch()
  return parentDeathWatch
}

async function startParentDeathWatch(): Promise<ParentDeathWatch> {
  const { spawn } = await import('node:child_process')
  const stdio: unknown[] = ['pipe', 'ignore', 'ignore']
  const unmask = maskInheritedDescriptors(stdio)
  const shell = spawn('/bin/sh', ['-c', WATCH_SCRIPT], {
    cwd: '/',
    env: {},
    stdio: stdio as StdioOptions,
    detached: true,
  })
  unmask()
  const input = shell.stdin
  const forget = (): void => void (parentDeathWatch = undefined)
  shell.on('error', forget).on('exit', forget).unref()
  input?.on('error', () => {})
  ;(input as { unref?(): void } | null)?.unref?.()
  const send = (line: string): void => {
    if (input?.writable) input.write(line)
  }
  return {
    guard(pid, controller, tag = '-') {
      send(`+ ${pid} ${tag}\n`)
      const cleanUp = async (): Promise<void> => {
        await controller.cleanUp()
        send(`- ${pid} ${tag}\n`)
      }
      return { ...controller, cleanUp }
    },
  }
}

/** Returns the variable that identifies the processes of a run, as `name=value`, if there is one. */
function getRunIdTag(env: ChildOptions['env']): string | undefined {
  const id = env['RUN_ID']
  return id !== undefined && /^[\w-]{4,64}$/.test(id) ? `RUN_ID=${id}` : undefined
}

/**
 * Kills the processes with this tag that are younger than `first`: daemons that left group and
 * session. Those that also changed their environment are not found.
 */
function killTagged(tag: string, first: number): void {
  for (const pid of listPidsAfter(first)) {
    const variables = readTextFile(`/proc/${pid}/environ`)?.split('\0')
    if (variables?.includes(tag) && readProcess(pid)) sendSignal(pid, 'SIGKILL')
  }
}
