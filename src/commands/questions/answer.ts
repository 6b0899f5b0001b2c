import { readFileSync } from 'node:fs'
import type { Io } from '../../contract/io.ts'
import { isObject } from '../../contract/json.ts'
import type { Entry } from '../../registry/entry.ts'
import type { Registry } from '../../registry/registry-type.ts'
import { readYaml } from '../../contract/documents/read-yaml.ts'
import { describeDocument } from '../../surfaces/json/describe.ts'
import { withRegistry } from '../with-registry.ts'
import type { Question } from './find.ts'

/** Prints the names of the tools, one a line, or the manifest of one tool as JSON; gives the exit status. Throws NOT_FOUND for a tool that nobody knows: nothing is invented. */
export async function answerQuestion({ kind, tool, surroundings }: Question, io: Io): Promise<number> {
  const text = await withRegistry(surroundings, io, (registry) => (kind === 'list' ? listNames(registry) : describeTool(registry, tool!)))
  await io.stdout.send(text)
  return 0
}

function listNames(registry: Registry): string {
  const names = registry.list().filter(({ shadowed_by }) => shadowed_by === undefined).map(({ name }) => `${name}\n`)
  return names.sort().join('')
}

async function describeTool(registry: Registry, name: string): Promise<string> {
  const entry = registry.find(name) as Entry | undefined
  // Fails, and says which was meant.
  if (!entry) await registry.describe(name)
  const written = await readManifestOf(entry!)
  const { manifest } = await entry!.definition.compiled()
  const described = describeDocument(manifest, { version: entry!.found.version ?? '0.0.0' })
  return `${JSON.stringify(written ?? described, undefined, 2)}\n`
}

// What its owner wrote is the best description, where somebody wrote one.
async function readManifestOf({ found }: Entry): Promise<object | undefined> {
  const file = found.location
  if (file === undefined || !/\.ya?ml$/.test(file)) return undefined
  const { value } = await readYaml(file, readFileSync(file, 'utf8'))
  return isObject(value) ? value : undefined
}
