import { isObject } from '../../contract/json.ts'
import type { ToolManifest, ToolsetManifest } from '../../contract/manifest.ts'
import { describeDeclared, describeErrors } from './describe-errors.ts'
import { describeInputs } from './describe-inputs.ts'

/** The program around the tools: its entry point is the file that a runner would start. */
export type DescribedProgram = Pick<ToolsetManifest, 'version' | 'permissions'> & { readonly entry?: string }

/** Every exit status of a program of ours, under the names of the orchestration manifest and of sysexits. */
export const EXIT_CODES = {
  ok: 0,
  retryable_error: 75,
  fatal_error: 1,
  usage_error: 2,
  syntax_error: 64,
  data_error: 65,
  no_input: 66,
  unavailable: 69,
  cannot_create: 73,
  permission_denied: 77,
  config_error: 78,
  timeout: 124,
  cancelled: 130,
  terminated: 143,
} as const

/** What `<tool> --describe` prints: the form of the orchestration manifest, then what an agent should do about each error. */
export function describeDocument(tool: ToolManifest, program: DescribedProgram): object {
  return { ...describeTool(tool, program), ...common(), ...additions(tool), errors: describeErrors(tool.errors) }
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
  return { exit_codes: EXIT_CODES, health: { selftest: ['--selftest'], describe: ['--describe'] } }
}

function additions({ summary, timeout }: ToolManifest) {
  return { summary, ...(timeout !== undefined && { timeout }) }
}
