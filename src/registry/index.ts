/**
 * The front door of the registry. It loads nothing until a registry is opened.
 */

import type { ExtraSources, Registry, SourceRegistryOptions } from './types.ts'

/**
 * Finds tools in every place that the options name, and puts them behind one door. Throws CONFIG
 * for options that cannot work; a place that does not answer is a problem, not a failure.
 */
export async function registry(
  options: SourceRegistryOptions = {},
  more?: ExtraSources,
): Promise<Registry> {
  return (await import('./registry.ts')).openRegistry(options, more)
}
