import type { ToolManifest } from '../contract/manifest.ts'
import { nameProblem } from './name-problem.ts'
import { checkFlags } from './flags/check.ts'
import { flagSpecs } from './flags/specs.ts'
import { compileSchema } from './schema/compile.ts'
import { resolveSchema } from './schema/source.ts'
import type { CompiledTool, ToolDefinition } from './tool-type.ts'

/** Compiles the schemas of a tool and checks what needs them. Throws CONFIG, naming the tool, with what to change. */
export function compileTool({ name, facts, source }: ToolDefinition): CompiledTool {
  const input = nameProblem(name, 'input', () =>
    compileSchema(resolveSchema(source.input), 'input'),
  )
  const output =
    source.output === undefined
      ? undefined
      : nameProblem(name, 'output', () => compileSchema(resolveSchema(source.output!), 'output'))
  const manifest: ToolManifest = {
    ...facts,
    get inputSchema() {
      return input.json
    },
    ...(output && {
      get outputSchema() {
        return output.json
      },
    }),
  }
  checkFlags(manifest, flagSpecs(manifest))
  return { input, output, manifest }
}
