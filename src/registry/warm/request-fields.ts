import { ToolError } from '../../contract/tool-error.ts'
import type { ServeOptions } from '../../contract/serve-protocol.ts'
import type { WarmCall, WarmContext } from './warm-type.ts'

/** The line of a call, without id and braces. Throws INVALID_INPUT for what JSON cannot carry. */
export function callFields({ tool, input, confirmed }: WarmCall, ctx: WarmContext): string {
  return `"call":${JSON.stringify(tool)}${inputField(input)}${optionsField(ctx, confirmed)}`
}

/** The line that reads a resource. */
export function resourceFields(uri: string, ctx: WarmContext): string {
  return `"resource":${JSON.stringify(uri)}${optionsField(ctx)}`
}

/** The line that renders a prompt. */
export function promptFields(name: string, input: unknown, ctx: WarmContext): string {
  return `"prompt":${JSON.stringify(name)}${inputField(input)}${optionsField(ctx)}`
}

function inputField(input: unknown): string {
  try {
    const text = JSON.stringify(input) as string | undefined
    return text === undefined ? '' : `,"input":${text}`
  } catch (error) {
    throw new ToolError(
      'INVALID_INPUT',
      `the input cannot be written as JSON: ${(error as Error).message}`,
      { cause: error },
    )
  }
}

function optionsField(
  { deadline, dryRun, caller, verbose }: WarmContext,
  confirm?: boolean,
): string {
  const options: ServeOptions = {
    ...(deadline && { timeout: Math.max(0.001, deadline.remaining()) }),
    ...(dryRun && { dry_run: true }),
    ...(confirm && { confirm: true }),
    ...(caller !== undefined && { caller }),
    ...(verbose !== undefined && verbose > 0 && { verbose }),
  }
  const text = JSON.stringify(options)
  return text === '{}' ? '' : `,"options":${text}`
}
