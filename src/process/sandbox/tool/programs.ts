import { statSync } from 'node:fs'
import { delimiter, isAbsolute } from 'node:path'
import type { ToolError } from '../../../contract/tool-error.ts'
import { findProgram } from '../../find-program.ts'
import { isLinux, machine } from '../../host.ts'
import { contains, realPath } from '../paths.ts'
import { seccompProgram } from '../seccomp/program.ts'
import { noSandbox } from '../why-not.ts'
import type { Identity } from './identity.ts'

/** Programs inside have to be of the system, because nothing else is there. */
export const OF_SYSTEM = '/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin'

/** The programs that make a sandbox, and the program that the kernel runs at every call. */
export type SandboxPrograms = {
  readonly bwrap: string
  readonly prlimit: string
  readonly setpriv: string | undefined
  readonly seccomp: Buffer
}

/** What makes sandboxes here, or what is missing. `path`, which no tool may choose, is looked through first for bubblewrap, which may lie anywhere but where tools could have put it: in `writable` places, and in folders of the user whom root becomes. */
export function findPrograms(
  path: string | undefined,
  who: Identity,
  writable: readonly string[] = [],
): SandboxPrograms | ToolError {
  if (!isLinux) return noSandbox('sandboxes need Linux and bubblewrap', 'Run this on Linux')
  const seccomp = seccompProgram(machine)
  if (!seccomp)
    return noSandbox(`nobody wrote down the system calls of ${machine}`, 'Run this on x64 or arm64')
  const trusted = (path ?? '')
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !isOfTools(folder, who, writable))
  const bwrap = findProgram('bwrap', [...trusted, OF_SYSTEM].join(delimiter))
  if (bwrap === undefined)
    return noSandbox('bubblewrap is not installed', 'sudo apt-get install bubblewrap')
  const prlimit = findProgram('prlimit', OF_SYSTEM)
  const setpriv = findProgram('setpriv', OF_SYSTEM)
  if (prlimit === undefined || (setpriv === undefined && who.isDropped))
    return noSandbox('prlimit and setpriv are not installed', 'sudo apt-get install util-linux')
  return { bwrap, prlimit, setpriv, seccomp }
}

function isOfTools(
  folder: string,
  { uid, isDropped }: Identity,
  writable: readonly string[],
): boolean {
  const real = realPath(folder)
  return (
    real === undefined ||
    writable.some((place) => contains(place, real)) ||
    (isDropped && statSync(real).uid === uid)
  )
}
