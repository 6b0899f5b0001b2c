/**
 * `toolable describe`, `toolable --list` and `toolable --describe <tool>`.
 */

import { readFileSync } from 'node:fs'
import { describeInputs } from '../cli/tool-documents.ts'
import type { Io } from '../protocol/io.ts'
import { readYamlDocument } from '../protocol/yaml.ts'
import type { Registry, ToolDescription } from '../registry/types.ts'
import { compact, isObject } from '../util/values.ts'
import type { RegistryQuery } from './argv.ts'
import { withRegistry } from './config.ts'
import type { RegistryFlags } from './config.ts'

/** Which tool, and where to look for it. */
export type DescribeInput = RegistryFlags & { readonly tool: string }

/** Everything about one tool of a registry; fails with NOT_FOUND for an unknown name. */
export async function describeTool(
  { tool, ...surroundings }: DescribeInput,
  where: { readonly cwd: string; readonly env: { readonly [name: string]: string | undefined } },
): Promise<ToolDescription> {
  return withRegistry(surroundings, where, (registry) => registry.describe(tool))
}

/**
 * Prints the names of the tools, one a line, or the manifest of one tool as JSON; gives the exit
 * status. Throws NOT_FOUND for a tool that nobody knows: nothing is invented.
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

// What its owner wrote is the best description, where somebody wrote one.
async function readOwnManifest({ location }: ToolDescription): Promise<object | undefined> {
  if (location === undefined || !/\.ya?ml$/.test(location)) return undefined
  const { value } = await readYamlDocument(location, readFileSync(location, 'utf8'))
  return isObject(value) ? value : undefined
}

// Without a manifest: what is known, and nothing that nobody said.
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
