import { closeSync } from 'node:fs'
import { begin } from './begin.ts'
import type { ChildEnd, ChildOptions } from './child-type.ts'
import { holdInput } from './input-file.ts'

/** Runs a program to its end. Never throws and never hangs: however it goes, there is a ChildEnd that says how. */
export async function runChild(options: ChildOptions): Promise<ChildEnd> {
  const { input } = options
  if (input === undefined) return (await begin(options, 'ignore')).end
  const held = holdInput(input)
  const { stdin, end } = await begin(options, held ?? 'pipe')
  // Until then it is watched, because a child of the same user can let it grow.
  if (held !== undefined) void end.then(() => closeSync(held))
  // A child that does not read, or closes early, is its own business.
  stdin?.on('error', () => {})
  stdin?.end(input)
  return end
}
