import type { Host } from '../cli/host.ts'
import type { Servable } from '../../call/servable.ts'
import type { Toolset } from '../toolset-type.ts'
import type { Builtin } from './builtin.ts'
import { treeOf } from './tree-of.ts'

/** The toolset that built-in commands belong to: named like the program, so that help and outcomes name the program too. */
export function toolsetOf(
  builtins: readonly Builtin[],
  { name, version, options: { defaultOutput } }: Servable,
  host: Host,
): Toolset {
  return host.makeToolset({
    name,
    version,
    ...(defaultOutput !== undefined && { defaultOutput }),
    tools: treeOf(builtins),
  })
}
