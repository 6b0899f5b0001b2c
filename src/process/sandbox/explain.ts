import { ToolError } from '../../contract/tool-error.ts'
import type { ChildEnd, ChildOptions } from '../child-type.ts'
import { explainStart } from '../start-problem.ts'

/** The end of a sandboxed child as if there were no sandbox: when only the sandbox ran, the child was never started. */
export async function explainSandboxed(end: ChildEnd, options: ChildOptions): Promise<ChildEnd> {
  if (end.reason !== 'exited' || end.status === 0 || end.stdout.length > 0) return end
  const words = firstWords(end)
  const explained = await explainLimited(end, options)
  if (explained !== end || !words.startsWith('bwrap: ')) return explained
  return {
    ...end,
    reason: 'not-started',
    problem: new ToolError(
      'SANDBOX_UNAVAILABLE',
      `${JSON.stringify(options.command[0])} got no sandbox: ${words.slice('bwrap: '.length)}`,
    ),
  }
}

/** The end of a child that was started by the program that limits it, as if there had been none: when only that ran, the child was never started. */
export async function explainLimited(end: ChildEnd, options: ChildOptions): Promise<ChildEnd> {
  if (end.reason !== 'exited' || end.status === 0 || end.stdout.length > 0) return end
  const refused = /^(?:bwrap: execvp .*|prlimit: failed to execute .*): (.+)$/.exec(firstWords(end))
  return refused
    ? {
        ...end,
        reason: 'not-started',
        problem: await explainStart(
          Object.assign(new Error(refused[1]), { code: CODES[refused[1]!] }),
          { ...options, cwd: '/' },
        ),
      }
    : end
}

function firstWords({ stderr }: ChildEnd): string {
  return stderr.toString('utf8', 0, 1000).trim().split('\n')[0]!
}

const CODES: { readonly [words: string]: string } = {
  'No such file or directory': 'ENOENT',
  'Permission denied': 'EACCES',
  'Argument list too long': 'E2BIG',
}
