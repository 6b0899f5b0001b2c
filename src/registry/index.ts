/**
 * The front door of the registry. It loads nothing until a registry is opened.
 */

import type { ExtraSources, Registry, SourceRegistryOptions } from './types.ts'

/**
 * Finds tools in every source that the options name. Throws CONFIG for invalid options; a source
 * that does not answer is reported as a problem.
 */
export async function registry(
  options: SourceRegistryOptions = {},
  more?: ExtraSources,
): Promise<Registry> {
  return (await import('./registry.ts')).openRegistry(options, more)
}
