import type { StdioOptions } from 'node:child_process'
import type { Reins } from './hold.ts'
import { coverInherited } from './inherited.ts'

/**
 * Reads lines `+ pid mark` and `- pid mark`. At the end of its input, which comes however our process ends, it kills the groups and sessions of the processes that it
 * still knows, all that descends from them, and all that has one of the marks in its environment. In `stat` a process has its number in front, then its name in
 * brackets, its state, parent, group and session.
 */
const GUARD = `trap '' HUP INT TERM PIPE
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
export type Lifeline = {
  /** `mark` is a variable of the child, as `name=value`, by which also those are found that left everything else behind. */
  guard(pid: number, reins: Reins, mark: string | undefined): Reins
}

let line: Promise<Lifeline> | undefined

/** The one lifeline of our process: a small shell that outlives us. Where it cannot be started, children are only ended by ourselves. */
export function openLifeline(): Promise<Lifeline> {
  line ??= startGuard()
  return line
}

async function startGuard(): Promise<Lifeline> {
  const { spawn } = await import('node:child_process')
  const stdio: unknown[] = ['pipe', 'ignore', 'ignore']
  const uncover = coverInherited(stdio)
  const shell = spawn('/bin/sh', ['-c', GUARD], {
    cwd: '/',
    env: {},
    stdio: stdio as StdioOptions,
    detached: true,
  })
  uncover()
  const input = shell.stdin
  const forget = (): void => {
    line = undefined
  }
  shell.on('error', forget).on('exit', forget).unref()
  input?.on('error', () => {})
  ;(input as { unref?(): void } | null)?.unref?.()
  const tell = (words: string): void => {
    if (input?.writable) input.write(words)
  }
  return {
    guard(pid, reins, mark = '-') {
      tell(`+ ${pid} ${mark}\n`)
      const clear = async (): Promise<void> => {
        await reins.clear()
        tell(`- ${pid} ${mark}\n`)
      }
      return { ...reins, clear }
    },
  }
}
