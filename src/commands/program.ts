import { treeOf } from '../surfaces/builtin/tree-of.ts'
import type { Host } from '../surfaces/cli/host.ts'
import type { Toolset } from '../surfaces/toolset-type.ts'
import { listCommands } from './list-commands.ts'

/** The program `toolable` as a toolset: its tools are its commands. */
export function ownProgram(version: string, makeToolset: Host['makeToolset']): Toolset {
  return makeToolset({
    name: 'toolable',
    version,
    description:
      'Every tool of a project behind one door: find, describe, call, check and serve them, whatever they are written in',
    tools: treeOf(listCommands()),
  })
}
