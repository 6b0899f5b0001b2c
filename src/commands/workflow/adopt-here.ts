import type { Io } from '../../contract/io.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { checkTools } from '../../workflow/definition/check-tools.ts'
import { tellProblem } from '../../workflow/definition/finding.ts'
import { adoptExecution } from '../../workflow/run/adopt-execution.ts'
import { withRegistry } from '../with-registry.ts'

/** Makes a run of an execution that another program has left, where this project has the tools that it needs. Throws PRECONDITION where it has not: then it is left for that program. */
export async function adoptHere(
  root: string,
  id: string,
  { config }: { readonly config?: string },
  { cwd, env }: Pick<Io, 'cwd' | 'env'>,
): Promise<void> {
  const surroundings = config === undefined ? {} : { config }
  await withRegistry(surroundings, { cwd, env }, (registry) =>
    adoptExecution(root, id, { cwd, env, surroundings }, async ({ definition }) => {
      const {
        problems: [problem],
      } = await checkTools(definition, registry)
      if (problem)
        throw new ToolError(
          'PRECONDITION',
          `it was begun by another program, with tools that are not there: ${tellProblem(problem)}`,
          { suggestion: 'Start that program again: it goes on with it' },
        )
    }),
  )
}
