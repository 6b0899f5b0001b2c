import { ToolError } from '../contract/tool-error.ts'
import { earlyFlags } from '../define/early/flags.ts'
import { CONTROL_FLAGS, INJECTED_FLAGS } from '../define/flags/injected.ts'
import { isThunk } from '../define/schema/source.ts'
import type { ToolDefinition } from '../define/tool-type.ts'
import { flagTable } from './cli/argv/flag-table.ts'
import { scan } from './cli/argv/scan.ts'

/** Refuses examples whose arguments cannot be read as flags of the tool, as soon as a toolset is built. Their values are checked when the schema is compiled. */
export function checkArgsEarly({ name, facts, source, sketch }: ToolDefinition): void {
  // A thunk is not called for the sake of an example.
  const schema = isThunk(source.input) ? undefined : sketch()?.inputSchema
  const specs = schema && earlyFlags(schema, facts).map((flag) => ({ ...flag, schema: {}, valueName: 'value', hidden: false }))
  facts.examples.forEach(({ args }, index) => {
    const problem = args && (findShapeProblem(args) ?? (specs && scan(args, flagTable(specs, INJECTED_FLAGS, CONTROL_FLAGS)).problem?.message))
    if (problem !== undefined) throw new ToolError('CONFIG', `example ${index + 1} of tool '${name}' (${JSON.stringify(args)}) is not a command line of the tool: ${problem}`)
  })
}

function findShapeProblem(args: unknown): string | undefined {
  return Array.isArray(args) && args.every((word) => typeof word === 'string') ? undefined : "'args' must be a list of texts"
}
