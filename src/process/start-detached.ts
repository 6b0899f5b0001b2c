import type { ChildOptions } from './child-type.ts'

/** Starts a process that outlives ours: in a session of its own, with nothing of ours in its hands but a file that takes what it says when it breaks. Gives its id, or why there is none. */
export async function startDetached(
  { command: [program, ...args], cwd, env }: Pick<ChildOptions, 'command' | 'cwd' | 'env'>,
  complaints: string,
): Promise<number | Error> {
  const [{ spawn }, { closeSync, openSync }] = await Promise.all([
    import('node:child_process'),
    import('node:fs'),
  ])
  const file = openSync(complaints, 'a', 0o600)
  try {
    const child = spawn(program, args, {
      cwd,
      env,
      stdio: ['ignore', file, file],
      detached: true,
      shell: false,
      windowsHide: true,
    })
    if (child.pid === undefined)
      return await new Promise<Error>((resolve) => child.once('error', resolve))
    child.unref()
    return child.pid
  } finally {
    closeSync(file)
  }
}
