import type { ToolError } from '../../contract/tool-error.ts'
import type { Environment } from '../base-environment.ts'
import { findProgram } from '../find-program.ts'
import { isLinux } from '../host.ts'
import { supervise } from '../supervise.ts'
import type { Bubblewrap } from './probe/wrap-command.ts'
import { wrapCommand } from './probe/wrap-command.ts'
import { explainRefusal, noSandbox } from './why-not.ts'

const USUAL_FOLDERS = '/usr/local/bin:/usr/bin:/bin'
const TRIAL = { writable: 'private-tmp', network: 'none' } as const

/** A sandbox that works on this machine, or why there is none. */
export type FoundSandbox =
  | { readonly available: true; readonly bubblewrap: Bubblewrap }
  | { readonly available: false; readonly problem: ToolError }

const known = new Map<string, Promise<FoundSandbox>>()

/** Finds out, by running it, whether this machine can make a sandbox. The answer is kept for each PATH. */
export function findSandbox(env: Environment): Promise<FoundSandbox> {
  const path = env['PATH'] ?? ''
  const found = known.get(path) ?? tryOut(path)
  known.set(path, found)
  return found
}

async function tryOut(path: string): Promise<FoundSandbox> {
  if (!isLinux) return missing('sandboxes need Linux and bubblewrap', 'Run this on Linux')
  const search = `${path}:${USUAL_FOLDERS}`
  const bwrap = findProgram('bwrap', search)
  if (bwrap === undefined)
    return missing('bubblewrap is not installed', 'sudo apt-get install bubblewrap')
  const prlimit = findProgram('prlimit', search)
  let words = ''
  // Root can do without user namespaces where they are forbidden.
  for (const userNamespace of [true, false]) {
    const bubblewrap: Bubblewrap = { bwrap, prlimit, userNamespace }
    const trial = await supervise(
      {
        command: wrapCommand(bubblewrap, TRIAL, ['true'], path),
        cwd: '/',
        env: { PATH: search },
        timeout: 5000,
      },
      'ignore',
    )
    const { status, stderr, problem } = await trial.end
    if (status === 0) return { available: true, bubblewrap }
    words ||=
      (problem?.message ?? stderr.toString().trim().split('\n', 1)[0]!) ||
      `bwrap ended with status ${status}`
  }
  return { available: false, problem: explainRefusal(words) }
}

function missing(why: string, fix: string): FoundSandbox {
  return { available: false, problem: noSandbox(why, fix) }
}
