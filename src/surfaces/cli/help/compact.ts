import type { ToolsetManifest } from '../../../contract/manifest.ts'
import { DASH, ELLIPSIS } from '../../../contract/wide-characters.ts'
import type { FlagSpec } from '../../../define/flags/flag-spec.ts'
import { OUTPUT_MODES } from '../../../define/flags/injected.ts'
import { flagSpecs } from '../../../define/flags/specs.ts'
import type { ToolCommand } from '../command-path.ts'
import { promptSignature } from './contents.ts'
import { exampleCommand } from './examples.ts'
import { oneLine } from './layout.ts'
import { argumentTerm, isArgument, optionTerm } from './options.ts'

/** The help of a program for an agent: one line for each tool. */
export function compactProgram(manifest: ToolsetManifest): string {
  const { name, version, description } = manifest
  return lines([
    `${name} ${version}${description === undefined ? '' : ` ${DASH} ${oneLine(description)}`}`,
    `Call: ${name} <command> '<json>' (or flags). Schemas: ${name} --schema, ${name} <command> --schema`,
    ...manifest.tools.map(compactCommand),
    ...listed(
      'Resources',
      manifest.resources.map((resource) => resource.uri),
    ),
    ...listed('Prompts', manifest.prompts.map(promptSignature)),
  ])
}

/** One command with what it needs at least; `…` stands for what is optional. */
export function compactCommand(tool: ToolCommand): string {
  const specs = flagSpecs(tool).filter((spec) => !spec.hidden)
  const required = specs.filter((spec) => spec.required)
  const words = [
    ...tool.path,
    ...required.map(term),
    ...(required.length < specs.length ? [ELLIPSIS] : []),
  ]
  return `${words.join(' ')} ${DASH} ${oneLine(tool.summary)}${tool.annotations.destructive ? ' (destructive: needs --yes)' : ''}`
}

/** The help of one tool for an agent: a line for each field, one example, the codes. */
export function compactTool(
  manifest: ToolsetManifest,
  tool: ToolCommand,
  specs: readonly FlagSpec[],
  single: boolean,
): string {
  const shown = specs.filter((spec) => !spec.hidden)
  const name = single ? manifest.name : [manifest.name, ...tool.path].join(' ')
  const examples = tool.examples.flatMap(
    (example) => exampleCommand(manifest, tool, example, single) ?? [],
  )
  return lines([
    `${name} ${DASH} ${oneLine(tool.summary)}`,
    ...(tool.description !== undefined && tool.description !== tool.summary
      ? [oneLine(tool.description)]
      : []),
    ...(tool.annotations.destructive ? ['Destructive: needs --yes'] : []),
    ...examples.slice(0, 2).map((example) => `Example: ${example}`),
    ...shown.map(fieldLine),
    `JSON: ${name} '<json>'. Schema: ${name} --schema. Output: --output ${OUTPUT_MODES.join('|')}`,
    ...listed(
      'Errors',
      Object.entries(tool.errors).map(([code, { message }]) => `${code} ${message}`),
    ),
  ])
}

function fieldLine(spec: FlagSpec): string {
  const facts = [
    ...(spec.required ? ['required'] : []),
    ...(spec.choices && (spec.valueName === 'choice' || isArgument(spec))
      ? [`one of ${spec.choices.join(', ')}`]
      : []),
    ...(spec.default === undefined ? [] : [`default ${JSON.stringify(spec.default)}`]),
    ...(spec.env === undefined ? [] : [`env ${spec.env}`]),
  ]
  const description = spec.description === undefined ? '' : `: ${oneLine(spec.description)}`
  return `${term(spec)}${facts.length === 0 ? '' : ` (${facts.join('; ')})`}${description}`
}

function term(spec: FlagSpec): string {
  return isArgument(spec) ? argumentTerm(spec) : optionTerm(spec)
}

function listed(title: string, items: readonly string[]): string[] {
  return items.length === 0 ? [] : [`${title}: ${items.map(oneLine).join('; ')}`]
}

function lines(all: readonly string[]): string {
  return `${all.join('\n')}\n`
}
