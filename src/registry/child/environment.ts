import type { Context } from '../../contract/context.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { baseEnvironment } from '../../process/base-environment.ts'
import type { ChildCall } from './child-call.ts'

/** The whole environment of a child: the base allow-list, and its own variables. Throws CONFIG for what is required and missing. */
export function childEnvironment(call: ChildCall, ctx: Context): { [name: string]: string } {
  return { ...baseEnvironment(ctx.env), ...ownVariables(call, ctx) }
}

/** The variables of a child besides the base allow-list: what it requires by name, and what its configuration gives. Throws CONFIG for what is required and missing. */
export function ownVariables(
  { env = {}, requireEnv = [] }: Pick<ChildCall, 'env' | 'requireEnv'>,
  { env: host }: Pick<Context, 'env'>,
): { [name: string]: string } {
  const required: { [name: string]: string } = Object.create(null) as { [name: string]: string }
  const missing: string[] = []
  for (const name of requireEnv) {
    if (Object.hasOwn(env, name)) continue
    const value = Object.hasOwn(host, name) ? host[name] : undefined
    if (value === undefined) missing.push(name)
    else required[name] = value
  }
  if (missing.length > 0) {
    throw new ToolError(
      'CONFIG',
      `the tool needs ${missing.length === 1 ? 'the variable' : 'the variables'} ${missing.join(', ')} in the environment`,
      {
        details: { missing },
        suggestion: `export ${missing.map((name) => `${name}=…`).join(' ')}`,
      },
    )
  }
  return { PYTHONIOENCODING: 'utf-8', ...required, ...env }
}
