import { readFileSync } from 'node:fs'
import { sendSignal } from './host.ts'
import { listPidsAfter, readProcess } from './process-table.ts'

/** The variable by which the processes of a run are known, as `name=value`, where they have one. */
export function markOf(env: { readonly [name: string]: string }): string | undefined {
  const id = env['RUN_ID']
  return id !== undefined && /^[\w-]{4,64}$/.test(id) ? `RUN_ID=${id}` : undefined
}

/** Kills what carries the mark and was started after its first process: daemons that left group and session. Only those hide that also changed their environment. */
export function killMarked(mark: string, first: number): void {
  for (const pid of listPidsAfter(first))
    if (carries(pid, mark) && readProcess(pid)) sendSignal(pid, 'SIGKILL')
}

function carries(pid: number, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(mark)
  } catch {
    return false
  }
}
