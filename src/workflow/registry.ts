/**
 * The public `registry()`: the registry of tools, with workflows as one more source of tools.
 */

import { registry as openRegistry } from '../registry/index.ts'
import type { ExtraSources, Registry } from '../registry/types.ts'
import type { RunRequest } from '../runner/request.ts'
import { compact } from '../util/values.ts'
import type { RegistryOptions } from './workflow-types.ts'

const EXTRA_OPTIONS: ExtraSources['options'] = ['workflows']

/**
 * Finds tools in every place that the options name, workflows among them, and puts them behind one
 * door. Throws CONFIG for options that cannot work; a place that does not answer is a problem, not
 * a failure.
 */
export function registry(options?: RegistryOptions): Promise<Registry> {
  return openRegistryWithWorkflows(options)
}

/**
 * The same, for a host that knows how the registry is opened again: runs of workflows are resumed
 * with it. `patience`: milliseconds after which it does without sources that have not answered;
 * they come when they do.
 */
export async function openRegistryWithWorkflows(
  { workflows, ...options }: RegistryOptions = {},
  surroundings?: RunRequest['surroundings'],
  patience?: number,
): Promise<Registry> {
  if (workflows === undefined)
    return openRegistry(options, {
      options: EXTRA_OPTIONS,
      make: () => [],
      loadTimeoutMs: patience,
    })
  const { createWorkflowSources } = await import('./registry-source.ts')
  return openRegistry(options, {
    options: EXTRA_OPTIONS,
    make: (opened) => createWorkflowSources(workflows, compact({ opened, surroundings })),
    loadTimeoutMs: patience,
  })
}
