import { registry as openRegistry } from '../../registry/index.ts'
import type { MoreSources, Registry } from '../../registry/registry-type.ts'
import type { RegistryOptions } from './options.ts'

const OPTIONS: MoreSources['options'] = ['workflows']

/** Finds tools in every place that the options name, workflows among them, and puts them behind one door. Throws CONFIG for options that cannot work; a place that does not answer is a problem, not a failure. */
export async function registry({ workflows, ...options }: RegistryOptions = {}): Promise<Registry> {
  if (workflows === undefined) return openRegistry(options, { options: OPTIONS, make: () => [] })
  const { workflowSources } = await import('./workflow-sources.ts')
  return openRegistry(options, { options: OPTIONS, make: (opened) => workflowSources(workflows, { opened, ...(options.env && { env: options.env }) }) })
}
