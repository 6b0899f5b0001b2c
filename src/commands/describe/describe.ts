import type { ToolDescription } from '../../registry/registry-type.ts'
import type { Surroundings } from '../config/load.ts'
import { withRegistry } from '../with-registry.ts'

/** Which tool, and where to look for it. */
export type DescribeInput = Surroundings & { readonly tool: string }

/** Everything about one tool of a registry; fails with NOT_FOUND for an unknown name. */
export async function describeTool(
  { tool, ...surroundings }: DescribeInput,
  where: { readonly cwd: string; readonly env: { readonly [name: string]: string | undefined } },
): Promise<ToolDescription> {
  return withRegistry(surroundings, where, (registry) => registry.describe(tool))
}
