/**
 * Starts a built program: runs the toolset, tools or functions that its entry exports.
 */

import { hasStarted } from '../../cli/run.ts'
import { toolset } from '../../cli/toolset.ts'
import type { Toolset, ToolsetOptions } from '../../cli/types.ts'
import type { AnyTool } from '../../core/tool.ts'
import { isTool } from '../../core/tool.ts'
import { functionTools } from '../../functions/function-tools.ts'
import type { ModuleManifest } from '../../functions/manifest.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { compact, isObject } from '../../util/values.ts'

/** What a program is called where its entry does not say so itself. */
export type EntryNames = Pick<ToolsetOptions, 'name' | 'version'>

/**
 * Runs what the entry of a built program exports, unless it has run something itself: its toolset,
 * or its tools. Throws CONFIG where it has neither.
 */
export async function startEntry(exported: object, names: EntryNames): Promise<void> {
  if (hasStarted()) return
  const set = findToolset(exported) ?? createToolsetFromExports(exported, names)
  await set.run()
}

/** Runs the plain functions of a module, which is loaded by the first call. */
export async function startFunctions(
  manifest: Pick<ModuleManifest, 'functions' | 'description'>,
  names: EntryNames,
  load: () => Promise<object>,
): Promise<void> {
  await toolset({
    ...names,
    ...compact({ description: manifest.description }),
    tools: functionTools(manifest, load),
  }).run()
}

function findToolset(exported: object): Toolset | undefined {
  const sets = [...new Set(Object.values(exported))].filter(isToolset)
  if (sets.length > 1)
    throw new ToolError('CONFIG', `the entry exports ${sets.length} toolsets`, {
      suggestion: 'Export one, or run the one that is meant: await set.run(import.meta)',
    })
  return sets[0]
}

// Made by any copy of this package.
function isToolset(value: unknown): value is Toolset {
  return (
    isObject(value) &&
    typeof value['run'] === 'function' &&
    Array.isArray(value['entries']) &&
    typeof value['outline'] === 'function'
  )
}

/**
 * What is said about an entry that runs nothing and exports neither a toolset nor a tool: its
 * functions may be meant.
 */
export const NO_TOOLS_MESSAGE = 'the entry has no tools'

function createToolsetFromExports(exported: object, names: EntryNames): Toolset {
  const tools = [
    ...new Set(
      Object.values(exported).flatMap((value: unknown) => (Array.isArray(value) ? value : [value])),
    ),
  ].filter((value): value is AnyTool => isTool(value))
  if (tools.length === 0)
    throw new ToolError('CONFIG', NO_TOOLS_MESSAGE, {
      suggestion:
        'Run a toolset in it (await toolset({...}).run(import.meta)), or export a toolset, tools or functions',
    })
  return toolset({ ...names, tools })
}
