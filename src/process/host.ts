/** Sends a signal; a negative pid means its process group. False where there is nobody to get it. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

/** Whether /proc tells who is whose child. */
export const isLinux = process.platform === 'linux'

/** The process we are. */
export const ownPid = (): number => process.pid

/** The program that runs us: node. */
export const ownProgram: string = process.execPath

/** Its version, without a letter in front. */
export const nodeVersion: string = process.versions.node

/** Who we are; undefined where the system has no such numbers. */
export const ownUser = (): { readonly uid: number; readonly gid: number } | undefined =>
  process.getuid && process.getgid ? { uid: process.getuid(), gid: process.getgid() } : undefined

/** The machine that programs here are made for. */
export const machine: string = process.arch

/** `TOOLABLE_SANDBOX_UID`: who tools are when we are root. */
export const wantedUser = (): string | undefined => process.env['TOOLABLE_SANDBOX_UID']

const running = new Set<number>()

/** Kills the group of that process when ours exits before it; gives a function that forgets it. */
export function endWithUs(leader: number): () => void {
  if (running.size === 0) process.on('exit', endAll)
  running.add(leader)
  return () => {
    running.delete(leader)
    if (running.size === 0) process.off('exit', endAll)
  }
}

function endAll(): void {
  for (const leader of running) sendSignal(-leader, 'SIGKILL')
}

/** `TOOLABLE_CRASH_AT`: where this process is to die, for tests. Read once, because it is asked often. */
export const wantedCrash: string | undefined = process.env['TOOLABLE_CRASH_AT']
