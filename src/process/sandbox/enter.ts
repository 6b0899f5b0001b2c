import { ToolError } from '../../contract/tool-error.ts'
import type { ChildEnd, ChildOptions } from '../child-type.ts'
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
export function leaveSandbox(end: ChildEnd, [program]: ChildOptions['command']): ChildEnd {
  if (end.reason !== 'exited' || end.status === 0 || end.stdout.length > 0) return end
  const words = end.stderr.toString('utf8', 0, 500).trim().split('\n')[0]!
  const refused = /^(?:bwrap: execvp .*|prlimit: failed to execute .*): (.+)$/.exec(words)
  if (refused) return { ...end, reason: 'not-started', problem: explainRefusal(program, refused[1]!) }
  if (words.startsWith('bwrap: ')) return { ...end, reason: 'not-started', problem: new ToolError('SANDBOX_UNAVAILABLE', `${JSON.stringify(program)} got no sandbox: ${words.slice('bwrap: '.length)}`) }
  return end
}

function explainRefusal(program: string, words: string): ToolError {
  const named = JSON.stringify(program)
  if (/permission denied/i.test(words)) return new ToolError('PERMISSION', `${named} may not be executed`, { suggestion: `chmod +x ${program}` })
  return new ToolError('CONFIG', `${named} cannot be executed in the sandbox: ${words}`, { suggestion: 'Check that the program and the interpreter in its first line exist' })
}
