import type { AnyTool } from '../../call/tool.ts'
import { makePlanningTools } from './make-tools.ts'

/**
 * The four planning tools over a session file, for `toolset({ tools })`, a section or an agent: what they change is there for the next process, and calls at the same time take turns.
 * Default: `.toolable/session.json` beside the nearest configuration, else in the caller's directory.
 */
export function planner({ file }: { readonly file?: string } = {}): readonly AnyTool[] {
  return makePlanningTools(async (ctx, work, options) => {
    const { findSessionFile, openPlanFile } = await import('./plan-file.ts')
    return openPlanFile(findSessionFile(ctx.cwd, { file }), ctx, work, options)
  })
}
