import type { Registry } from '../registry/registry-type.ts'
import { loadOptions } from './config/load.ts'
import { surroundingsOf } from './run/surroundings.ts'
import type { Surroundings } from './config/load.ts'

type Where = { readonly cwd: string; readonly env: { readonly [name: string]: string | undefined } }

/** Opens the registry that the flags and the configuration ask for, as long as `work` needs it. */
export async function withRegistry<Result>(
  given: Surroundings,
  { cwd, env }: Where,
  work: (registry: Registry) => Result | Promise<Result>,
): Promise<Result> {
  const options = await loadOptions(given, { cwd, env })
  const { openWithWorkflows } = await import('../workflow/source/registry.ts')
  const opened = await openWithWorkflows(options, surroundingsOf(given))
  try {
    return await work(opened)
  } finally {
    await opened.close()
  }
}
