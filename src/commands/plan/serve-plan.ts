import { planner } from '../../prompting/planning/index.ts'
import { findSessionFile } from '../../prompting/planning/plan-file.ts'
import type { BuiltinContext } from '../../surfaces/builtin/builtin.ts'
import { serveMcp } from '../../surfaces/mcp/serve.ts'

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
