import type { ChildEnd, ChildOptions } from './child-type.ts'
import { supervise } from './supervise.ts'

/** Runs a program to its end. Never throws and never hangs: however it goes, there is a ChildEnd that says how. */
export async function runChild(options: ChildOptions): Promise<ChildEnd> {
  const { stdin, end } = await supervise(options, options.input === undefined ? 'ignore' : 'pipe')
  // A child that does not read, or closes early, is its own business.
  stdin?.on('error', () => {})
  stdin?.end(options.input)
  return end
}
