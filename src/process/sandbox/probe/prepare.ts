import { ToolError } from '../../../contract/tool-error.ts'
import type { ChildOptions } from '../../child-type.ts'
import type { Prepared } from '../../hold.ts'
import { leadGroup } from '../../hold.ts'
import { machine } from '../../host.ts'
import { explainSandboxed } from '../explain.ts'
import { findSandbox } from '../find-sandbox.ts'
import type { ProbeProfile } from '../profile.ts'
import { seccompProgram } from '../seccomp/program.ts'
import { collectDescriptors } from '../tool/descriptors.ts'
import type { Descriptors } from '../tool/descriptors.ts'
import { noSandbox } from '../why-not.ts'
import { wrapCommand } from './wrap-command.ts'

/** The sandbox of a child that is only asked what it is, or why there is none. */
export async function prepare(options: ChildOptions): Promise<Prepared | ToolError> {
  const { env } = options
  const found = await findSandbox(env)
  if (!found.available) return found.problem
  const descriptors = collectDescriptors()
  const seccomp = filterOf(descriptors)
  if (seccomp instanceof ToolError) return seccomp
  const command = wrapCommand(
    found.bubblewrap,
    options.sandbox as ProbeProfile,
    options.command,
    env['PATH'],
    seccomp,
  )
  return {
    hold: {
      command,
      cwd: '/',
      env,
      descriptors: descriptors.all,
      take: (_child, pid) => leadGroup(pid),
    },
    explain: (end) => explainSandboxed(end, options),
  }
}

// Nobody has asked for what is only looked at, so that it gets no more of the kernel than a tool. Other machines do without.
function filterOf(descriptors: Descriptors): readonly string[] | ToolError {
  const program = seccompProgram(machine)
  try {
    return program ? ['--seccomp', descriptors.text(program.toString('latin1'), 'latin1')] : []
  } catch (error) {
    return noSandbox((error as Error).message, 'Mount /dev/shm')
  }
}
