import { readFileSync } from 'node:fs'

/** The children of this process whose command line has the text. */
export function childrenWith(text: string): readonly number[] {
  const pids = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ')
  return pids
    .filter((pid) => pid !== '')
    .map(Number)
    .filter((pid) => commandOf(pid).includes(text))
}

/** The command line of a process; empty when it is over. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}
