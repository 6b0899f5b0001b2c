import { registry as openRegistry } from '../../registry/index.ts'
import type { MoreSources, Registry } from '../../registry/registry-type.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import type { RegistryOptions } from './options.ts'

const OPTIONS: MoreSources['options'] = ['workflows']

/** Finds tools in every place that the options name, workflows among them, and puts them behind one door. Throws CONFIG for options that cannot work; a place that does not answer is a problem, not a failure. */
export function registry(options?: RegistryOptions): Promise<Registry> {
  return openWithWorkflows(options)
}

/** The same, for a host that knows how the registry is opened again: runs of workflows are resumed with it. `patience`: milliseconds after which it does without sources that have not answered; they come when they do. */
export async function openWithWorkflows(
  { workflows, ...options }: RegistryOptions = {},
  surroundings?: RunRequest['surroundings'],
  patience?: number,
): Promise<Registry> {
  if (workflows === undefined)
    return openRegistry(options, { options: OPTIONS, make: () => [], patience })
  const { workflowSources } = await import('./workflow-sources.ts')
  return openRegistry(options, {
    options: OPTIONS,
    make: (opened) => workflowSources(workflows, { opened, ...(surroundings && { surroundings }) }),
    patience,
  })
}
