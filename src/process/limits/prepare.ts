import type { ChildOptions } from '../child-type.ts'
import { findProgram } from '../find-program.ts'
import type { Prepared } from '../hold.ts'
import { leadGroup } from '../hold.ts'
import { openLifeline } from '../lifeline.ts'
import { explainSandboxed } from '../sandbox/explain.ts'
import { processLimitsOf, setLimits } from './rlimits.ts'
import { watchLimits } from './watch.ts'

const USUAL_FOLDERS = '/usr/local/bin:/usr/bin:/bin'

/** Limits for a child that has no sandbox. A program that is not there is started as it is, so that the system says what is wrong with it. */
export async function prepare(options: ChildOptions): Promise<Prepared> {
  const { command, cwd, env, limits = {} } = options
  const isThere = findProgram(command[0], env['PATH'], cwd) !== undefined
  const limited = isThere ? setLimits(processLimitsOf(limits, false), findProgram('prlimit', USUAL_FOLDERS)) : []
  const lifeline = await openLifeline()
  return {
    hold: { command: [...limited, ...command] as unknown as ChildOptions['command'], cwd, env, descriptors: [], take: (_child, pid) => lifeline.guard(pid, leadGroup(pid, true)) },
    watch: (root, onReached) => watchLimits(limits, { countProcesses: true }, root, onReached),
    explain: (end) => explainSandboxed(end, options),
  }
}
