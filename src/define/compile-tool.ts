import { ToolError } from '../contract/tool-error.ts'
import type { ToolManifest } from '../contract/manifest.ts'
import { checkFlags } from './flags/check.ts'
import { flagSpecs } from './flags/specs.ts'
import { compileSchema } from './schema/compile.ts'
import type { Schema } from './schema/schema.ts'
import { resolveSchema } from './schema/source.ts'
import type { CompiledTool, ToolDefinition } from './tool-type.ts'

/** Compiles the schemas of a tool and checks what needs them. Throws CONFIG, naming the tool, with what to change. */
export function compileTool({ name, facts, source }: ToolDefinition): CompiledTool {
  const input = named(name, 'input', () => compileSchema(resolveSchema(source.input), 'input'))
  const output = source.output === undefined ? undefined : named(name, 'output', () => compileSchema(resolveSchema(source.output!), 'output'))
  const manifest: ToolManifest = {
    ...facts,
    get inputSchema() { return input.json },
    ...(output && { get outputSchema() { return output.json } }),
  }
  checkFlags(manifest, flagSpecs(manifest))
  return { input, output, manifest }
}

function named(tool: string, what: string, compile: () => Schema): Schema {
  try {
    return compile()
  } catch (error) {
    if (!ToolError.is(error)) throw error
    throw new ToolError('CONFIG', `the ${what} of tool '${tool}': ${error.message}`, { ...(error.suggestion && { suggestion: error.suggestion }), cause: error })
  }
}
