import type { Toolset } from '../cli/types.ts'
import type { AnyTool } from '../core/tool.ts'
import { isTool } from '../core/tool.ts'
import type { ToolManifest } from '../protocol/manifest.ts'
import type { Json, JsonObject } from '../util/values.ts'
import { compact } from '../util/values.ts'

/**
 * What callers depend on, as plain JSON with sorted keys: names, schemas, flags, annotations and
 * errors. For the snapshots of any test runner.
 */
export async function schemaSnapshot(target: Toolset | AnyTool): Promise<JsonObject> {
  if (isTool(target)) return sortKeys(describeManifest(await target.manifest())) as JsonObject
  const { name, tools, resources, prompts } = await (target as Toolset).manifest()
  return sortKeys({
    name,
    tools: toNamedObject(tools.map((tool) => [tool.name, describeManifest(tool)])),
    resources: resources.map(({ uri }) => uri).sort(),
    prompts: toNamedObject(
      prompts.map((prompt) => [
        prompt.name,
        prompt.arguments.map((argument) => `${argument.name}${argument.required ? '' : '?'}`),
      ]),
    ),
  }) as JsonObject
}

function describeManifest({
  name,
  inputSchema,
  outputSchema,
  annotations,
  errors,
  positional,
  flags,
  streaming,
  session,
}: ToolManifest): object {
  return compact({
    name,
    input: inputSchema,
    output: outputSchema ?? null,
    annotations,
    errors,
    positional,
    flags,
    streaming: streaming || undefined,
    session: session || undefined,
  })
}

// Without prototype, so that no name means anything else.
function toNamedObject(entries: readonly (readonly [string, unknown])[]): object {
  return Object.assign(Object.create(null) as object, Object.fromEntries(entries))
}

function sortKeys(value: unknown): Json {
  return sortValue(JSON.parse(JSON.stringify(value)) as Json)
}

function sortValue(value: Json, key?: string): Json {
  if (Array.isArray(value)) {
    const items = value.map((item) => sortValue(item))
    // The names of required fields are a set; their order does not matter.
    return key === 'required' && items.every((item) => typeof item === 'string')
      ? items.sort()
      : items
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, item]) => [name, sortValue(item, name)]),
  )
}
