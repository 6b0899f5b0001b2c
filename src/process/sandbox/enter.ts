import { ToolError } from '../../contract/tool-error.ts'
import type { ChildEnd, ChildOptions } from '../child-type.ts'
import { explainStart } from '../start-problem.ts'
import { wrapCommand } from './bubblewrap.ts'
import { findSandbox } from './find-sandbox.ts'
import type { SandboxProfile } from './profile.ts'

/** The options that run the same child inside its sandbox, or why that is not possible. */
export async function enterSandbox(options: ChildOptions, profile: SandboxProfile): Promise<ChildOptions | ToolError> {
  const path = options.env['PATH']
  const found = await findSandbox(options.env)
  return found.available ? { ...options, cwd: '/', command: wrapCommand(found.bubblewrap, profile, options.command, path) } : found.problem
}

/** The end of a sandboxed child as if there were no sandbox: when only the sandbox ran, the child was never started. */
export async function leaveSandbox(end: ChildEnd, options: ChildOptions): Promise<ChildEnd> {
  if (end.reason !== 'exited' || end.status === 0 || end.stdout.length > 0) return end
  const words = end.stderr.toString('utf8', 0, 1000).trim().split('\n')[0]!
  const refused = /^(?:bwrap: execvp .*|prlimit: failed to execute .*): (.+)$/.exec(words)
  if (refused) return { ...end, reason: 'not-started', problem: await explainStart(Object.assign(new Error(refused[1]), { code: CODES[refused[1]!] }), { ...options, cwd: '/' }) }
  if (words.startsWith('bwrap: ')) return { ...end, reason: 'not-started', problem: new ToolError('SANDBOX_UNAVAILABLE', `${JSON.stringify(options.command[0])} got no sandbox: ${words.slice('bwrap: '.length)}`) }
  return end
}

const CODES: { readonly [words: string]: string } = { 'No such file or directory': 'ENOENT', 'Permission denied': 'EACCES', 'Argument list too long': 'E2BIG' }
