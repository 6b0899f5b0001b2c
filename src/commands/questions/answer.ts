import { readFileSync } from 'node:fs'
import type { Io } from '../../contract/io.ts'
import { readYaml } from '../../contract/documents/read-yaml.ts'
import { isObject } from '../../contract/json.ts'
import type { Registry, ToolDescription } from '../../registry/registry-type.ts'
import { describeInputs } from '../../surfaces/json/describe-inputs.ts'
import { withRegistry } from '../with-registry.ts'
import type { Question } from './find.ts'

/** Prints the names of the tools, one a line, or the manifest of one tool as JSON; gives the exit status. Throws NOT_FOUND for a tool that nobody knows: nothing is invented. */
export async function answerQuestion(
  { kind, tool, surroundings }: Question,
  io: Io,
): Promise<number> {
  const text = await withRegistry(surroundings, io, (registry) =>
    kind === 'list' ? listNames(registry) : describeTool(registry, tool!),
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

async function describeTool(registry: Registry, name: string): Promise<string> {
  const described = await registry.describe(name)
  return `${JSON.stringify((await readManifestOf(described)) ?? describeByFacts(described), undefined, 2)}\n`
}

// What its owner wrote is the best description, where somebody wrote one.
async function readManifestOf({ location }: ToolDescription): Promise<object | undefined> {
  if (location === undefined || !/\.ya?ml$/.test(location)) return undefined
  const { value } = await readYaml(location, readFileSync(location, 'utf8'))
  return isObject(value) ? value : undefined
}

// Without a manifest: what is known, and nothing that nobody said.
function describeByFacts({
  manifest: { name, summary, description, inputSchema, permissions, timeout },
}: ToolDescription): object {
  return {
    name,
    summary,
    ...(description !== undefined && { description }),
    inputs: describeInputs(inputSchema),
    ...(permissions && { permissions }),
    ...(timeout !== undefined && { timeout }),
  }
}
