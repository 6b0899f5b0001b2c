import type { BuiltinContext } from '../cli/types.ts'
import { serveMcp } from '../mcp/serve.ts'
import { findSessionFile } from '../prompts/plan.ts'
import { planner } from '../prompts/planning.ts'

/** Serves the planning tools on a session file until the client is gone. */
export function servePlan(
  {
    file,
    config,
    ...serving
  }: { readonly file?: string; readonly config?: string; readonly [property: string]: unknown },
  context: BuiltinContext,
): Promise<number | undefined> {
  const path = findSessionFile(context.io.cwd, { file, config })
  const set = context.host.makeToolset({
    name: 'planner',
    version: context.set.version,
    description: `A plan of work, kept in ${path}`,
    tools: planner({ file: path }),
  })
  return serveMcp(serving, { ...context, set })
}
