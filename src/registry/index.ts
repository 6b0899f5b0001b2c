import type { MoreSources, Registry, RegistryOptions } from './registry-type.ts'

/** Finds tools in every place that the options name, and puts them behind one door. Throws CONFIG for options that cannot work; a place that does not answer is a problem, not a failure. */
export async function registry(
  options: RegistryOptions = {},
  more?: MoreSources,
): Promise<Registry> {
  return (await import('./registry.ts')).openRegistry(options, more)
}
