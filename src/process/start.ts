import type { ChildProcess } from 'node:child_process'
import type { ChildOptions } from './child-type.ts'
import type { Channels, ChildInput } from './channels.ts'
import { openChannels } from './channels.ts'

/** A child that runs, and the streams to it. */
export type Started = { readonly child: ChildProcess; readonly pid: number; readonly channels: Channels }

/** Starts a child, in a process group of its own; gives what the system says where it does not want to. */
export async function start(options: ChildOptions, stdin: ChildInput): Promise<Started | NodeJS.ErrnoException | 'cancelled'> {
  const { command: [program, ...args], cwd, env, signal } = options
  const { spawn } = await import('node:child_process')
  const opened = await openChannels(stdin)
  if (signal?.aborted) {
    opened.giveUp()
    return 'cancelled'
  }
  try {
    const child = spawn(program, args, { cwd, env, stdio: opened.stdio, shell: false, detached: true, windowsHide: true })
    if (child.pid !== undefined) return { child, pid: child.pid, channels: opened.connect(child) }
    opened.giveUp()
    return await new Promise<NodeJS.ErrnoException>((resolve) => child.once('error', resolve))
  } catch (error) {
    opened.giveUp()
    return error as NodeJS.ErrnoException
  }
}
