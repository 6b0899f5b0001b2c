import type { ChildOptions } from '../child-type.ts'
import { findProgram } from '../find-program.ts'
import type { Hold, Prepared } from '../hold.ts'
import { leadGroup } from '../hold.ts'
import { openLifeline } from '../lifeline.ts'
import { killMarked, markOf } from '../mark.ts'
import { explainLimited } from '../sandbox/explain.ts'
import { processLimitsOf, setLimits } from './rlimits.ts'
import { watchLimits } from './watch.ts'

const USUAL_FOLDERS = '/usr/local/bin:/usr/bin:/bin'

/** Limits for a child that has no sandbox. A program that is not there is started as it is, so that the system says what is wrong with it. */
export async function prepare(options: ChildOptions): Promise<Prepared> {
  const { command, cwd, env, limits = {} } = options
  const isThere = findProgram(command[0], env['PATH'], cwd) !== undefined
  const limited = isThere
    ? setLimits(processLimitsOf(limits, false), findProgram('prlimit', USUAL_FOLDERS))
    : []
  const lifeline = await openLifeline()
  const mark = markOf(env)
  const take: Hold['take'] = (_child, pid) => {
    const reins = leadGroup(pid, true)
    const clear = async (): Promise<void> => {
      await reins.clear()
      if (mark !== undefined) killMarked(mark, pid)
    }
    return lifeline.guard(pid, { ...reins, clear }, mark)
  }
  return {
    hold: {
      command: [...limited, ...command] as unknown as ChildOptions['command'],
      cwd,
      env,
      descriptors: [],
      take,
    },
    watch: (root, onReached, input) =>
      watchLimits(limits, { countProcesses: true, input }, root, onReached),
    explain: (end) => explainLimited(end, options),
  }
}
