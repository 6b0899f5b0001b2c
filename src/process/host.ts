/**
 * The only file of this folder that touches the global `process`: signals, platform, user, and the environment variables of sandboxes and crash tests.
 */

/**
 * Sends a signal; a negative pid means its process group. False where there is nobody to get it.
 */
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
export const getOwnPid = (): number => process.pid

/** The program that runs us: node. */
export const nodePath: string = process.execPath

/** Its version, without a letter in front. */
export const nodeVersion: string = process.versions.node

/** Who we are; undefined where the system has no such numbers. */
export const getOwnUser = (): { readonly uid: number; readonly gid: number } | undefined =>
  process.getuid && process.getgid ? { uid: process.getuid(), gid: process.getgid() } : undefined

/** The machine that programs here are made for. */
export const cpuArchitecture: string = process.arch

/** `TOOLABLE_SANDBOX_UID`: who tools are when we are root. */
export const getSandboxUid = (): string | undefined => process.env['TOOLABLE_SANDBOX_UID']

const groupLeaders = new Set<number>()

/** Kills the group of that process when ours exits before it; gives a function that forgets it. */
export function killGroupOnExit(leader: number): () => void {
  if (groupLeaders.size === 0) process.on('exit', killAllGroups)
  groupLeaders.add(leader)
  return () => {
    groupLeaders.delete(leader)
    if (groupLeaders.size === 0) process.off('exit', killAllGroups)
  }
}

function killAllGroups(): void {
  for (const leader of groupLeaders) sendSignal(-leader, 'SIGKILL')
}

/**
 * `TOOLABLE_CRASH_AT`: where this process is to die, for tests. Read once, because it is asked
 * often.
 */
const crashPointSetting: string | undefined = process.env['TOOLABLE_CRASH_AT']

/** A place where a test may have this process killed. */
type CrashPoint =
  | 'journal.append'
  | 'journal.written'
  | 'journal.synced'
  | 'step.performed'
  | 'execution.ended'
  | (string & {})

const [place, count = '1'] = crashPointSetting?.split('#') ?? []
let remainingPasses = Number(count)

/**
 * Dies as by `kill -9` when `TOOLABLE_CRASH_AT` names this place, or `place#3` the third time that
 * it is reached. Does nothing otherwise.
 */
export function crashPoint(name: CrashPoint): void {
  if (place === undefined || place !== name) return
  remainingPasses -= 1
  if (remainingPasses <= 0) sendSignal(getOwnPid(), 'SIGKILL')
}
