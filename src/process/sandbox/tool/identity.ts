import { readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { ToolError } from '../../../contract/tool-error.ts'
import { ownUser, wantedUser } from '../../host.ts'

const NOBODY = 65534

/** Who a tool is. Never root: what root starts is somebody else before its sandbox is made. */
export type Identity = { readonly uid: number; readonly gid: number; readonly isDropped: boolean }

/** Who tools are here: we ourselves, or for root `TOOLABLE_SANDBOX_UID`, otherwise nobody. */
export function findIdentity(): Identity | ToolError {
  const own = ownUser()
  if (!own)
    return new ToolError('SANDBOX_UNAVAILABLE', 'There is no sandbox: this system has no users')
  if (own.uid !== 0) return { ...own, isDropped: false }
  const wanted = wantedUser() ?? String(NOBODY)
  const uid = /^\d{1,9}$/.test(wanted) ? Number(wanted) : 0
  if (uid === 0)
    return new ToolError(
      'CONFIG',
      `TOOLABLE_SANDBOX_UID is ${JSON.stringify(wanted)}; it has to be the number of a user who is not root`,
      { suggestion: 'export TOOLABLE_SANDBOX_UID=65534' },
    )
  return { uid, gid: groupOf(uid), isDropped: true }
}

/** Whether somebody else gets to a file or folder at all: every folder above it lets him through. */
export function canReach(path: string, who: Identity): boolean {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (!allows(folder, who, 1)) return false
    if (folder === '/') return true
  }
}

/** Whether the mode of a file allows somebody to read (4), write (2) or enter (1). */
export function allows(path: string, { uid, gid }: Identity, wanted: number): boolean {
  try {
    const { mode, uid: owner, gid: group } = statSync(path)
    const bits = owner === uid ? mode >> 6 : group === gid ? mode >> 3 : mode
    return (bits & wanted) === wanted
  } catch {
    return false
  }
}

const groups = new Map<number, number>()

function groupOf(uid: number): number {
  const group = groups.get(uid) ?? readGroup(uid)
  groups.set(uid, group)
  return group
}

function readGroup(uid: number): number {
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
