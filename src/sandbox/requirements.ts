/**
 * What a tool sandbox needs from this machine: a user that is not root, bubblewrap, prlimit,
 * setpriv and a seccomp filter for this architecture.
 */

import { statSync } from 'node:fs'
import { delimiter, dirname, isAbsolute } from 'node:path'
import { cpuArchitecture, getOwnUser, getSandboxUid, isLinux } from '../process/host.ts'
import { findProgram } from '../process/programs.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { isPathInside, readTextFile, resolveRealPath } from '../util/files.ts'
import { once } from '../util/values.ts'
import { toNoSandboxError } from './bubblewrap.ts'
import { getSeccompProgram } from './seccomp.ts'

/** Programs inside the sandbox come from the system, because nothing else is visible. */
export const SYSTEM_PATH = '/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin'

/** The programs that create a sandbox, and its seccomp filter. */
export type SandboxPrograms = {
  readonly bwrap: string
  readonly prlimit: string
  readonly setpriv: string | undefined
  readonly seccomp: Buffer
}

/**
 * Finds the programs for a sandbox, or returns what is missing. Bubblewrap is searched in `path` (of
 * the caller, not of the tool) first, except in folders that tools can write: `writable` and folders
 * of the user that root changes to.
 */
export function findSandboxPrograms(
  path: string | undefined,
  user: SandboxUser,
  writable: readonly string[],
): SandboxPrograms | ToolError {
  if (!isLinux) return toNoSandboxError('sandboxes need Linux and bubblewrap', 'Run this on Linux')
  const seccomp = getSeccompProgram(cpuArchitecture)
  if (!seccomp)
    return toNoSandboxError(
      `nobody wrote down the system calls of ${cpuArchitecture}`,
      'Run this on x64 or arm64',
    )
  const trusted = (path ?? '')
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !isWritableByTools(folder, user, writable))
  const bwrap = findProgram('bwrap', [...trusted, SYSTEM_PATH].join(delimiter))
  if (bwrap === undefined)
    return toNoSandboxError('bubblewrap is not installed', 'sudo apt-get install bubblewrap')
  const prlimit = findProgram('prlimit', SYSTEM_PATH)
  const setpriv = findProgram('setpriv', SYSTEM_PATH)
  if (prlimit === undefined || (setpriv === undefined && user.isDropped))
    return toNoSandboxError(
      'prlimit and setpriv are not installed',
      'sudo apt-get install util-linux',
    )
  return { bwrap, prlimit, setpriv, seccomp }
}

function isWritableByTools(
  folder: string,
  { uid, isDropped }: SandboxUser,
  writable: readonly string[],
): boolean {
  const real = resolveRealPath(folder)
  return (
    real === undefined ||
    writable.some((path) => isPathInside(path, real)) ||
    (isDropped && statSync(real).uid === uid)
  )
}

const NOBODY_ID = 65534

/** The user of a tool, never root. `isDropped`: root changes to this user. */
export type SandboxUser = {
  readonly uid: number
  readonly gid: number
  readonly isDropped: boolean
}

/** Finds the user of tools: ours, or for root the one of `TOOLABLE_SANDBOX_UID` (default: nobody). */
export function findSandboxUser(): SandboxUser | ToolError {
  const own = getOwnUser()
  if (!own)
    return new ToolError('SANDBOX_UNAVAILABLE', 'There is no sandbox: this system has no users')
  if (own.uid !== 0) return { ...own, isDropped: false }
  const wanted = getSandboxUid() ?? String(NOBODY_ID)
  const uid = /^\d{1,9}$/.test(wanted) ? Number(wanted) : 0
  if (uid === 0)
    return new ToolError(
      'CONFIG',
      `TOOLABLE_SANDBOX_UID is ${JSON.stringify(wanted)}; it has to be the number of a user who is not root`,
      { suggestion: 'export TOOLABLE_SANDBOX_UID=65534' },
    )
  return { uid, gid: getPrimaryGroup(uid), isDropped: true }
}

/** True when a user may enter every folder above a path. */
export function canReachPath(path: string, user: SandboxUser): boolean {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (!hasFileMode(folder, user, 1)) return false
    if (folder === '/') return true
  }
}

/** True when the mode of a file allows a user to read (4), write (2) or enter (1). */
export function hasFileMode(path: string, { uid, gid }: SandboxUser, wanted: number): boolean {
  try {
    const { mode, uid: owner, gid: group } = statSync(path)
    let bits = mode
    if (owner === uid) bits = mode >> 6
    else if (group === gid) bits = mode >> 3
    return (bits & wanted) === wanted
  } catch {
    return false
  }
}

const readUsers = once(() => readTextFile('/etc/passwd') ?? '')

function getPrimaryGroup(uid: number): number {
  const users = readUsers()
    .split('\n')
    .map((line) => line.split(':'))
  return Number(users.find((fields) => fields[2] === String(uid))?.[3] ?? uid)
}
