/**
 * What a tool sandbox needs from this machine: a user that is not root, bubblewrap, prlimit,
 * setpriv and a seccomp filter for this architecture.
 */

import { readFileSync, statSync } from 'node:fs'
import { delimiter, dirname, isAbsolute } from 'node:path'
import { cpuArchitecture, getOwnUser, getSandboxUid, isLinux } from '../process/host.ts'
import { findProgram } from '../process/programs.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { isPathInside, resolveRealPath } from '../util/files.ts'
import { toNoSandboxError } from './bubblewrap.ts'
import { getSeccompProgram } from './seccomp.ts'

/** Programs inside have to be of the system, because nothing else is there. */
export const SYSTEM_PATH = '/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin'

/** The programs that make a sandbox, and the program that the kernel runs at every call. */
export type SandboxPrograms = {
  readonly bwrap: string
  readonly prlimit: string
  readonly setpriv: string | undefined
  readonly seccomp: Buffer
}

/**
 * What makes sandboxes here, or what is missing. `path`, which no tool may choose, is looked
 * through first for bubblewrap, which may lie anywhere but where tools could have put it: in
 * `writable` places, and in folders of the user whom root becomes.
 */
export function findSandboxPrograms(
  path: string | undefined,
  who: SandboxUser,
  writable: readonly string[] = [],
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
    .filter((folder) => isAbsolute(folder) && !isWritableByTools(folder, who, writable))
  const bwrap = findProgram('bwrap', [...trusted, SYSTEM_PATH].join(delimiter))
  if (bwrap === undefined)
    return toNoSandboxError('bubblewrap is not installed', 'sudo apt-get install bubblewrap')
  const prlimit = findProgram('prlimit', SYSTEM_PATH)
  const setpriv = findProgram('setpriv', SYSTEM_PATH)
  if (prlimit === undefined || (setpriv === undefined && who.isDropped))
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
    writable.some((place) => isPathInside(place, real)) ||
    (isDropped && statSync(real).uid === uid)
  )
}

const NOBODY_ID = 65534

/** Who a tool is. Never root: what root starts is somebody else before its sandbox is made. */
export type SandboxUser = {
  readonly uid: number
  readonly gid: number
  readonly isDropped: boolean
}

/** Who tools are here: we ourselves, or for root `TOOLABLE_SANDBOX_UID`, otherwise nobody. */
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

/**
 * Whether somebody else gets to a file or folder at all: every folder above it lets him through.
 */
export function canReachPath(path: string, who: SandboxUser): boolean {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (!hasFileMode(folder, who, 1)) return false
    if (folder === '/') return true
  }
}

/** Whether the mode of a file allows somebody to read (4), write (2) or enter (1). */
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

const groupCache = new Map<number, number>()

function getPrimaryGroup(uid: number): number {
  const group = groupCache.get(uid) ?? readPrimaryGroup(uid)
  groupCache.set(uid, group)
  return group
}

function readPrimaryGroup(uid: number): number {
  try {
    const line = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((text) => text.split(':'))
      .find((fields) => fields[2] === String(uid))
    return line?.[3] === undefined ? uid : Number(line[3])
  } catch {
    return uid
  }
}
