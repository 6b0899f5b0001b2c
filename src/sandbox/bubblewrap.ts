/**
 * What both sandboxes share: the descriptors handed to bubblewrap, and how its failures are told
 * apart from those of the child.
 */

import { closeSync } from 'node:fs'
import { openMemoryFile, reopenMemoryFile } from '../process/channels.ts'
import type { ChildEnd, ChildOptions } from '../process/child.ts'
import { toStartError } from '../process/supervise.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { listWords } from '../util/text.ts'

const FIRST_DESCRIPTOR = 3

/**
 * Arguments that show these devices. `--dev` would create the folder too, but with unlimited shared
 * memory and a second user namespace.
 */
export function bindDevices(names: string): readonly string[] {
  return listWords(names).flatMap((name) => ['--dev-bind', `/dev/${name}`, `/dev/${name}`])
}

/** Arguments that create the links to the streams of a process. */
export const STREAM_LINKS: readonly string[] = listWords(`
  --symlink /proc/self/fd/0 /dev/stdin --symlink /proc/self/fd/1 /dev/stdout
  --symlink /proc/self/fd/2 /dev/stderr --symlink /proc/self/fd /dev/fd`)

/** The descriptors that are passed to bubblewrap. */
export type SandboxDescriptors = {
  /** Returns the number of a descriptor with these bytes. Throws without files in memory. */
  bytes(content: Uint8Array): string
  /** The same for content that many sandboxes share. */
  text(content: string, encoding?: BufferEncoding): string
  /** Returns the number of a pipe to this process. */
  pipe(): number
  readonly all: readonly (number | 'pipe')[]
  /** Call it when the sandbox was not started. */
  closeAll(): void
}

const cachedFiles = new Map<string, number>()
/** Bounds the contents that do change, such as /etc/hosts. */
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

/** Turns an end into `not-started` when only bubblewrap or prlimit ran, and not the child. */
export async function explainSandboxEnd(end: ChildEnd, options: ChildOptions): Promise<ChildEnd> {
  if (end.reason !== 'exited' || end.status === 0 || end.stdout.length > 0) return end
  const line = readFirstErrorLine(end)
  const explained = await explainLimitedEnd(end, options)
  if (explained !== end || !line.startsWith('bwrap: ')) return explained
  return {
    ...end,
    reason: 'not-started',
    problem: new ToolError(
      'SANDBOX_UNAVAILABLE',
      `${JSON.stringify(options.command[0])} got no sandbox: ${line.slice('bwrap: '.length)}`,
    ),
  }
}

/** Turns an end into `not-started` when bubblewrap or prlimit could not execute the child. */
export async function explainLimitedEnd(end: ChildEnd, options: ChildOptions): Promise<ChildEnd> {
  if (end.reason !== 'exited' || end.status === 0 || end.stdout.length > 0) return end
  const line = readFirstErrorLine(end)
  const message = /^(?:bwrap: execvp .*|prlimit: failed to execute .*): (.+)$/.exec(line)?.[1]
  if (message === undefined) return end
  const cause = Object.assign(new Error(message), { code: ERRNO_BY_MESSAGE[message] })
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

const ERRNO_BY_MESSAGE: { readonly [message: string]: string } = {
  'No such file or directory': 'ENOENT',
  'Permission denied': 'EACCES',
  'Argument list too long': 'E2BIG',
}

/** The error of a sandbox that bubblewrap could not create, from its message. */
export function toBubblewrapError(message: string): ToolError {
  if (/namespace|uid map|not permitted|permission denied/i.test(message))
    return toNoSandboxError(
      `this system forbids user namespaces (${message})`,
      'sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 kernel.unprivileged_userns_clone=1',
    )
  return toNoSandboxError(
    `bubblewrap does not work here (${message})`,
    'Run it by hand: bwrap --unshare-all --ro-bind / / true',
  )
}

/** The error of a machine that has no sandbox. */
export function toNoSandboxError(why: string, fix: string): ToolError {
  return new ToolError('SANDBOX_UNAVAILABLE', `There is no sandbox: ${why}`, { suggestion: fix })
}
