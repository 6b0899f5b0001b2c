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
