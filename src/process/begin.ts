import { fstatSync } from 'node:fs'
import type { ChildInput, OpenedChannels } from './channels.ts'
import { openChannels } from './channels.ts'
import type { ChildOptions } from './child-type.ts'
import type { Prepared } from './hold.ts'
import type { SandboxProfile } from './sandbox/profile.ts'
import type { Supervised } from './supervise.ts'
import { neverStarted, supervise } from './supervise.ts'

/** Starts a child, held by its limits and inside its sandbox where it has them, and watches it until it is over. */
export async function begin(options: ChildOptions, stdin: ChildInput): Promise<Supervised> {
  if (options.stdoutVariable === undefined) return beginWith(options, stdin)
  const opened = await openChannels(stdin)
  return beginWith(
    { ...options, env: { ...options.env, ...nameStdout(options.stdoutVariable, opened) } },
    opened,
  )
}

async function beginWith(
  options: ChildOptions,
  stdin: ChildInput | OpenedChannels,
): Promise<Supervised> {
  const { sandbox, limits } = options
  if (sandbox === undefined && limits === undefined) return supervise(options, stdin)
  const { prepare } = await loadPreparer(sandbox)
  const began = performance.now()
  const prepared = await prepare(options)
  if (prepared instanceof Error) {
    if (typeof stdin === 'object') stdin.giveUp()
    return neverStarted(began, 'not-started', prepared)
  }
  const supervised = await supervise(options, stdin, prepared.hold, prepared.watch)
  return { ...supervised, end: supervised.end.then(prepared.explain) }
}

// Programs that a tool starts inherit its variables, but not always its stdout: by this they tell the difference.
function nameStdout(
  variable: string,
  { stdio }: OpenedChannels,
): { readonly [name: string]: string } {
  const stdout: unknown = stdio[1]
  if (typeof stdout !== 'number') return {}
  const { dev, ino } = fstatSync(stdout)
  return { [variable]: `${dev}:${ino}` }
}

type Preparer = { prepare(options: ChildOptions): Promise<Prepared | Error> }

function loadPreparer(sandbox: SandboxProfile | undefined): Promise<Preparer> {
  if (sandbox === undefined) return import('./limits/prepare.ts')
  return 'grants' in sandbox
    ? import('./sandbox/tool/prepare.ts')
    : import('./sandbox/probe/prepare.ts')
}
