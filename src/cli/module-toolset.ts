/**
 * Builds a toolset from the functions that a module exports. Loaded only for `toolset({ module })`.
 */

import { collectTools } from '../core/provider.ts'
import { createNoToolsError, openModule } from '../functions/open-module.ts'
import { compact } from '../util/values.ts'
import { isEntryPoint } from './run.ts'
import type { ModuleToolsetOptions, Toolset, ToolsetOptions } from './types.ts'

/**
 * Reads the functions of a module and builds the toolset. The module is imported by the first call;
 * never here, because it may be the one that waits for us.
 */
export async function createModuleToolset(
  { module, strict = false, ...options }: ModuleToolsetOptions,
  make: (options: ToolsetOptions) => Toolset,
): Promise<Toolset> {
  const isOwn = typeof module === 'object' && !(module instanceof URL)
  const address = getAddress(module)
  const opened = await openModule(
    address === undefined ? String(module) : address.replace(/[?#].*$/, ''),
    compact({ strict, address }),
  )
  const { name, version, description } = opened.manifest
  const functions = opened.tools()
  const others = options.tools ?? []
  if (functions.length === 0 && collectTools(others).length === 0) throw createNoToolsError(opened)
  const set = make({ name, ...compact({ version, description }), ...options, tools: others })
  for (const tool of functions) set.add(tool)
  return runAfterEvaluation(set, opened.located.url, isOwn)
}

function getAddress(module: ModuleToolsetOptions['module']): string | undefined {
  if (typeof module === 'string') return undefined
  return module instanceof URL ? module.href : module.url
}

// A module that waits for its own command line would wait for itself: a call imports it, and that
// ends only when it has been evaluated.
function runAfterEvaluation(set: Toolset, url: string, isOwn: boolean): Toolset {
  const run = set.run.bind(set)
  set.run = async (entry) => {
    if (!isOwn && entry?.url.replace(/[?#].*$/, '') !== url) return run(entry)
    if (entry && !isEntryPoint(entry)) return
    // Where the evaluation fails, node says so itself.
    void import(entry?.url ?? url).then(
      () => run(),
      () => undefined,
    )
  }
  return set
}
