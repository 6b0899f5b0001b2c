/**
 * `toolable describe`, `toolable schema`, `toolable --list` and `toolable --describe <tool>`.
 */

import { readFileSync } from 'node:fs'
import { printDocument } from '../cli/documents.ts'
import type { ResultRenderer } from '../cli/formats/envelope.ts'
import { cleanLine, createTextPainter } from '../cli/formats/terminal-text.ts'
import type { renderToolHelp as RenderToolHelp } from '../cli/help.ts'
import { describeInputs } from '../cli/tool-documents.ts'
import type { BuiltinContext } from '../cli/types.ts'
import type { Io } from '../protocol/io.ts'
import { readYamlDocument } from '../protocol/yaml.ts'
import type { Registry, ToolDescription } from '../registry/types.ts'
import { compact, isObject } from '../util/values.ts'
import type { RegistryQuery } from './argv.ts'
import type { CommandContext } from './command.ts'
import type { RegistryFlags } from './config.ts'
import { withRegistry } from './config.ts'

/** Which tool, and where to look for it. */
type DescribeInput = RegistryFlags & { readonly tool: string }

/** Everything about one tool of a registry; fails with NOT_FOUND for an unknown name. */
export async function describeTool(
  { tool, ...surroundings }: DescribeInput,
  where: CommandContext,
): Promise<ToolDescription> {
  return withRegistry(surroundings, where, (registry) => registry.describe(tool))
}

/** Prints the schemas of one tool; gives the exit status. */
export async function printSchemas(
  { tool, ...flags }: DescribeInput,
  { io }: BuiltinContext,
): Promise<number> {
  return printDocument(io, await withRegistry(flags, io, (registry) => registry.schema(tool)))
}

/**
 * Prints the names of the tools, one a line, or the manifest of one tool as JSON; gives the exit
 * status. Throws NOT_FOUND for an unknown tool.
 */
export async function answerRegistryQuery(
  { kind, tool, surroundings }: RegistryQuery,
  io: Io,
): Promise<number> {
  const text = await withRegistry(surroundings, io, (registry) =>
    kind === 'list' ? listNames(registry) : describeAsManifest(registry, tool!),
  )
  await io.stdout.send(text)
  return 0
}

function listNames(registry: Registry): string {
  const names = registry
    .list()
    .filter(({ shadowed_by }) => shadowed_by === undefined)
    .map(({ name }) => `${name}\n`)
  return names.sort().join('')
}

async function describeAsManifest(registry: Registry, name: string): Promise<string> {
  const described = await registry.describe(name)
  return `${JSON.stringify((await readOwnManifest(described)) ?? toMinimalManifest(described), undefined, 2)}\n`
}

// A manifest that its author wrote is the best description.
async function readOwnManifest({ location }: ToolDescription): Promise<object | undefined> {
  if (location === undefined || !/\.ya?ml$/.test(location)) return undefined
  const { value } = await readYamlDocument(location, readFileSync(location, 'utf8'))
  return isObject(value) ? value : undefined
}

// Without a manifest, only what is known.
function toMinimalManifest({
  manifest: { name, summary, description, inputSchema, permissions, timeout },
}: ToolDescription): object {
  return compact({
    name,
    summary,
    description,
    inputs: describeInputs(inputSchema),
    permissions,
    timeout,
  })
}

const DEFAULT_COLUMNS = 100

/** Renders a tool for a person. Loads the renderer of help, which agents that read JSON do not need. */
export async function loadDescriptionRenderer(): Promise<ResultRenderer> {
  const { renderToolHelp } = await import('../cli/help.ts')
  return (result, layout) => renderDescription(result as ToolDescription, layout, renderToolHelp)
}

// Its help, then where it comes from.
function renderDescription(
  { manifest, id, kind, tier, location, original_name, shadowed_by, notes = [] }: ToolDescription,
  { columns = DEFAULT_COLUMNS, color }: Parameters<ResultRenderer>[1],
  renderToolHelp: typeof RenderToolHelp,
): string {
  const tool = { ...manifest, path: ['call', manifest.name] }
  const help = renderToolHelp(
    { name: 'toolable', version: '', tools: [tool], resources: [], prompts: [] },
    tool,
    { columns, color, single: false },
  )
  const paint = createTextPainter(color)
  const facts = [
    ['id', id],
    ['kind', kind],
    ['tier', tier],
    ['location', location],
    ['its own name', original_name],
    ['behind', shadowed_by],
    ...notes.map((note) => ['note', note]),
  ]
  const origin = facts.flatMap(([name, value]) =>
    value === undefined ? [] : [`  ${paint('cyan', `${name!}:`.padEnd(14))} ${cleanLine(value)}`],
  )
  return `${help}\n${[paint('bold', 'Origin'), ...origin].join('\n')}\n`
}
