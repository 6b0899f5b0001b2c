import { ToolError } from '../../contract/tool-error.ts'
import type * as Definer from './define-tool.ts'

let definer: typeof Definer | undefined

/** Loads what makes definitions of what a folder brings; a list needs none of it. */
export async function loadDefiner(): Promise<void> {
  definer ??= await import('./define-tool.ts')
}

/** What makes definitions. Throws INTERNAL where nobody has loaded it. */
export function loadedDefiner(): typeof Definer {
  if (definer) return definer
  throw new ToolError(
    'INTERNAL',
    'the definition of a tool was asked for before prepare() of its registry',
  )
}
