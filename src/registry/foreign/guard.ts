import type { Context } from '../../contract/context.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { ToolDefinition } from '../../define/tool-type.ts'
import { hasPolicies } from '../../process/policy/load-policies.ts'
import { keepNotes, notesOf } from './notes.ts'

type Run = (input: unknown, ctx: Context) => unknown

/** A tool without permissions, which has the rights of its caller: it runs only where no policy demands more. */
export function guard(definition: ToolDefinition, tool: string): ToolDefinition {
  const run = definition.run as Run | undefined
  if (!run) return definition
  // Where there is no policy, which is mostly so, a call pays no promise for it.
  const guarded: Run = (input, ctx) =>
    hasPolicies(ctx.cwd, ctx.env) ? ask(tool, ctx).then(() => run(input, ctx)) : run(input, ctx)
  const made = { ...definition, run: guarded } as ToolDefinition
  keepNotes(made, notesOf(definition))
  return made
}

async function ask(tool: string, { cwd, env }: Context): Promise<void> {
  const [{ loadPolicies }, { checkUnconfined }, { decideLevel }] = await Promise.all([
    import('../../process/policy/load-policies.ts'),
    import('../../process/policy/check-policy.ts'),
    import('../../process/policy/decide-level.ts'),
  ])
  const policy = await loadPolicies(cwd, env)
  await checkUnconfined(policy, tool)
  await decideLevel({
    tool,
    needs: 'L1',
    offered: 'L1',
    policy,
    problem: new ToolError('SANDBOX_UNAVAILABLE', 'nothing says what it may do', {
      suggestion: "Add 'permissions:' to its manifest; {} asks for nothing but its workspace",
    }),
  })
}
