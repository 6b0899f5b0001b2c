/**
 * What both sandboxes share: the descriptors handed to bubblewrap, and how its failures are told
 * apart from those of the child.
 */

import { closeSync } from 'node:fs'
import { openMemoryFile, reopenMemoryFile } from '../process/channels.ts'
import type { ChildEnd, ChildOptions } from '../process/child.ts'
import { toStartError } from '../process/supervise.ts'
import { ToolError } from '../protocol/tool-error.ts'

const FIRST_DESCRIPTOR = 3

/** What bubblewrap gets by descriptor. */
export type SandboxDescriptors = {
  /**
   * The number under which bubblewrap reads these bytes. Throws where the system has no files in
   * memory.
   */
  bytes(content: Uint8Array): string
  /** The same for what is the same in every sandbox. */
  text(content: string, encoding?: BufferEncoding): string
  /** The number of a pipe to us. */
  pipe(): number
  readonly all: readonly (number | 'pipe')[]
  /** Where nothing was started after all. */
  closeAll(): void
}

const cachedFiles = new Map<string, number>()
/** Contents that never change are few; this bounds those that do. */
const MAX_CACHED_FILES = 32

/** Collects the descriptors of one sandbox. */
export function createDescriptors(): SandboxDescriptors {
  const all: (number | 'pipe')[] = []
  const add = (descriptor: number | 'pipe'): number => FIRST_DESCRIPTOR - 1 + all.push(descriptor)
  const write = (content: Uint8Array): number => {
    const file = openMemoryFile(content)
    if (file === undefined) throw new Error('/dev/shm cannot be written')
    return file
  }
  return {
    all,
    bytes: (content) => String(add(write(content))),
    text: (content, encoding = 'utf8') => {
      const file = cachedFiles.get(content) ?? write(Buffer.from(content, encoding))
      if (cachedFiles.has(content) || cachedFiles.size < MAX_CACHED_FILES) {
        cachedFiles.set(content, file)
        return String(add(reopenMemoryFile(file)))
      }
      return String(add(file))
    },
    pipe: () => add('pipe'),
    closeAll: () =>
      all.forEach((descriptor) => typeof descriptor === 'number' && closeSync(descriptor)),
  }
}

/**
 * The end of a sandboxed child as if there were no sandbox: when only the sandbox ran, the child
 * was never started.
 */
export async function explainSandboxEnd(end: ChildEnd, options: ChildOptions): Promise<ChildEnd> {
  if (end.reason !== 'exited' || end.status === 0 || end.stdout.length > 0) return end
  const words = readFirstErrorLine(end)
  const explained = await explainLimitedEnd(end, options)
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

/**
 * The end of a child that was started by the program that limits it, as if there had been none:
 * when only that ran, the child was never started.
 */
export async function explainLimitedEnd(end: ChildEnd, options: ChildOptions): Promise<ChildEnd> {
  if (end.reason !== 'exited' || end.status === 0 || end.stdout.length > 0) return end
  const line = readFirstErrorLine(end)
  const words = /^(?:bwrap: execvp .*|prlimit: failed to execute .*): (.+)$/.exec(line)?.[1]
  if (words === undefined) return end
  const cause = Object.assign(new Error(words), { code: ERRNO_BY_MESSAGE[words] })
  return {
    ...end,
    reason: 'not-started',
    problem: await toStartError(cause, { ...options, cwd: '/' }),
  }
}

/** Returns the first line that a child wrote to stderr. */
export function readFirstErrorLine({ stderr }: Pick<ChildEnd, 'stderr'>): string {
  return stderr.toString('utf8', 0, 1000).trim().split('\n')[0]!
}

const ERRNO_BY_MESSAGE: { readonly [words: string]: string } = {
  'No such file or directory': 'ENOENT',
  'Permission denied': 'EACCES',
  'Argument list too long': 'E2BIG',
}

/**
 * Why bubblewrap makes no sandbox, from what it says: forbidden by the system, or something else.
 */
export function toBubblewrapError(words: string): ToolError {
  const isForbidden = /namespace|uid map|not permitted|permission denied/i.test(words)
  return toNoSandboxError(
    isForbidden
      ? `this system forbids user namespaces (${words})`
      : `bubblewrap does not work here (${words})`,
    isForbidden
      ? 'sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 kernel.unprivileged_userns_clone=1'
      : 'Run it by hand: bwrap --unshare-all --ro-bind / / true',
  )
}

/** The one error of a machine that has no sandbox. */
export function toNoSandboxError(why: string, fix: string): ToolError {
  return new ToolError('SANDBOX_UNAVAILABLE', `There is no sandbox: ${why}`, { suggestion: fix })
}
