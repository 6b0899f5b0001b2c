import type { ChildProcess, StdioOptions } from 'node:child_process'
import { closeSync } from 'node:fs'
import type { ChildOptions } from './child-type.ts'
import type { Channels, ChildInput, OpenedChannels } from './channels.ts'
import { openChannels } from './channels.ts'
import type { Hold } from './hold.ts'
import { coverInherited } from './inherited.ts'

/** A child that runs, and the streams to it. */
export type Started = {
  readonly child: ChildProcess
  readonly pid: number
  readonly channels: Channels
}

/** Starts a child, in a process group of its own; gives what the system says where it does not want to. */
export async function start(
  options: ChildOptions,
  stdin: ChildInput | OpenedChannels,
  hold?: Hold,
): Promise<Started | NodeJS.ErrnoException | 'cancelled'> {
  const { signal } = options
  const {
    command: [program, ...args],
    cwd,
    env,
  } = hold ?? options
  const descriptors = hold?.descriptors ?? []
  const { spawn } = await import('node:child_process')
  const opened = typeof stdin === 'object' ? stdin : await openChannels(stdin)
  const closeOurs = (): void =>
    descriptors.forEach((descriptor) => typeof descriptor === 'number' && closeSync(descriptor))
  if (signal?.aborted) {
    opened.giveUp()
    closeOurs()
    return 'cancelled'
  }
  const stdio = [...(opened.stdio as unknown[]), ...descriptors]
  let uncover = (): void => {}
  try {
    uncover = coverInherited(stdio)
    const child = spawn(program, args, {
      cwd,
      env,
      stdio: stdio as StdioOptions,
      shell: false,
      detached: true,
      windowsHide: true,
      ...hold?.user,
    })
    if (child.pid !== undefined) return { child, pid: child.pid, channels: opened.connect(child) }
    opened.giveUp()
    return await new Promise<NodeJS.ErrnoException>((resolve) => child.once('error', resolve))
  } catch (error) {
    opened.giveUp()
    return error as NodeJS.ErrnoException
  } finally {
    uncover()
    closeOurs()
  }
}
