import { treeOf } from '../surfaces/builtin/tree-of.ts'
import type { Host } from '../surfaces/cli/host.ts'
import type { Toolset } from '../surfaces/toolset-type.ts'
import type { ToolableCommand } from './command.ts'

/** The program `toolable` as a toolset: its tools are its commands. */
export function programOf(commands: readonly ToolableCommand[], version: string, host: Host): Toolset {
  return host.makeToolset({
    name: 'toolable',
    version,
    description: 'Every tool of a project behind one door: find, describe, call, check and serve them, whatever they are written in',
    tools: treeOf(commands),
  })
}
