import type { ToolError } from '../../../contract/tool-error.ts'
import type { ChildOptions } from '../../child-type.ts'
import type { Prepared } from '../../hold.ts'
import { leadGroup } from '../../hold.ts'
import { explainSandboxed } from '../explain.ts'
import { findSandbox } from '../find-sandbox.ts'
import type { ProbeProfile } from '../profile.ts'
import { wrapCommand } from './wrap-command.ts'

/** The sandbox of a child that is only asked what it is, or why there is none. */
export async function prepare(options: ChildOptions): Promise<Prepared | ToolError> {
  const { env } = options
  const found = await findSandbox(env)
  if (!found.available) return found.problem
  const command = wrapCommand(found.bubblewrap, options.sandbox as ProbeProfile, options.command, env['PATH'])
  return { hold: { command, cwd: '/', env, descriptors: [], take: (_child, pid) => leadGroup(pid) }, explain: (end) => explainSandboxed(end, options) }
}
