const OUT = 1
const ERR = 2

type Stdio = readonly { readonly fd?: unknown }[]
type Spawn = (this: unknown, options: { readonly stdio?: Stdio }) => unknown

/** Gives every child that would inherit stdout stderr instead, whoever starts it and however. */
export function redirectChildren(): void {
  const natives = findNatives()
  if (natives) for (const { holder, method } of natives) redirect(holder, method, mapDescriptors)
  else redirectByName()
}

type Holder = Record<string, unknown>

// All ways to start a child end in one of these two functions. They are there without node:child_process, which takes milliseconds to load
// and may be loaded only inside a handler.
function findNatives(): { readonly holder: Holder; readonly method: string }[] | undefined {
  try {
    const binding = (process as unknown as { binding(name: string): Holder }).binding
    const { Process } = binding('process_wrap') as { Process?: { prototype: Holder } }
    const found = [
      { holder: Process!.prototype, method: 'spawn' },
      { holder: binding('spawn_sync'), method: 'spawn' },
    ]
    return found.every(({ holder, method }) => typeof holder[method] === 'function')
      ? found
      : undefined
  } catch {
    // Under node's permission model, and in a node that has given them up.
    return undefined
  }
}

function redirectByName(): void {
  const children = process.getBuiltinModule('node:child_process')
  redirect(children.ChildProcess.prototype as unknown as Holder, 'spawn', mapWords)
  for (const method of ['spawnSync', 'execFileSync', 'execSync'])
    redirect(children, method, mapWords)
}

function redirect(holder: Holder, method: string, map: (stdio: unknown) => unknown): void {
  const original = holder[method] as Spawn
  holder[method] = function redirected(this: unknown, ...args: unknown[]) {
    return Reflect.apply(
      original,
      this,
      args.map((arg) => (hasStdio(arg) ? { ...arg, stdio: map(arg.stdio) } : arg)),
    )
  }
}

function hasStdio(arg: unknown): arg is { stdio: unknown } {
  return typeof arg === 'object' && arg !== null && !Array.isArray(arg) && 'stdio' in arg
}

function mapDescriptors(stdio: unknown): unknown {
  return Array.isArray(stdio)
    ? (stdio as Stdio).map((target) => (target?.fd === OUT ? { ...target, fd: ERR } : target))
    : stdio
}

function mapWords(stdio: unknown): unknown {
  if (stdio === 'inherit') return ['inherit', ERR, 'inherit']
  if (!Array.isArray(stdio)) return stdio
  return stdio.map((target: unknown, index) =>
    target === OUT ||
    (target === 'inherit' && index === OUT) ||
    (target as { fd?: unknown } | null)?.fd === OUT
      ? ERR
      : target,
  )
}
