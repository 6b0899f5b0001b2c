import { EXIT_STATUSES } from '../../contract/exit-statuses.ts'
import { isObject } from '../../contract/json.ts'
import type { ToolManifest, ToolsetManifest } from '../../contract/manifest.ts'
import { describeDeclared, describeErrors } from './describe-errors.ts'
import { describeInputs } from './describe-inputs.ts'

/** The program around the tools: its entry point is the file that a runner would start. */
export type DescribedProgram = Pick<ToolsetManifest, 'version' | 'permissions'> & {
  readonly entry?: string
}

/** What `<tool> --describe` prints: the form of the orchestration manifest, then what an agent should do about each error. */
export function describeDocument(tool: ToolManifest, program: DescribedProgram): object {
  return {
    ...describeTool(tool, program),
    ...common(),
    ...additions(tool),
    errors: describeErrors(tool.errors),
  }
}

/** What `--describe` prints for a whole program: what is true of every tool once, then the tools. */
export function toolsetDescribeDocument(toolset: ToolsetManifest, entry?: string): object {
  const program: DescribedProgram = { ...toolset, ...(entry !== undefined && { entry }) }
  return {
    ...identity(toolset.name, program),
    ...(toolset.description !== undefined && { description: toolset.description }),
    permissions: toolset.permissions ?? {},
    ...common(),
    tools: toolset.tools.map((tool) => ({
      ...describeTool(tool, program),
      ...additions(tool),
      ...(Object.keys(tool.errors).length > 0 && { errors: describeDeclared(tool.errors) }),
    })),
    errors: describeErrors({}),
  }
}

function describeTool(tool: ToolManifest, program: DescribedProgram) {
  const { resources, ...permissions } = tool.permissions ?? program.permissions ?? {}
  return {
    ...identity(tool.name, program),
    inputs: describeInputs(tool.inputSchema),
    permissions,
    resources: isObject(resources) ? resources : {},
    env: { require: [] },
  }
}

function identity(name: string, { version, entry }: DescribedProgram) {
  return { name, version, ...(entry !== undefined && { entry }), protocol_version: 1 }
}

function common() {
  return {
    exit_codes: Object.fromEntries(EXIT_STATUSES.map(({ name, status }) => [name, status])),
    health: { selftest: ['--selftest'], describe: ['--describe'] },
  }
}

function additions({ summary, timeout }: ToolManifest) {
  return { summary, ...(timeout !== undefined && { timeout }) }
}
