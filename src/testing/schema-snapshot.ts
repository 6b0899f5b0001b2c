import type { Json, JsonObject } from '../contract/json.ts'
import type { ToolManifest } from '../contract/manifest.ts'
import { isTool } from '../call/tool.ts'
import type { AnyTool } from '../call/tool.ts'
import type { Toolset } from '../surfaces/toolset-type.ts'

/** What callers depend on, as plain JSON with sorted keys: names, schemas, flags, annotations and errors. For the snapshots of any test runner. */
export async function schemaSnapshot(target: Toolset | AnyTool): Promise<JsonObject> {
  if (isTool(target)) return sorted(describe(await target.manifest())) as JsonObject
  const { name, tools, resources, prompts } = await (target as Toolset).manifest()
  return sorted({
    name,
    tools: byName(tools.map((tool) => [tool.name, describe(tool)])),
    resources: resources.map(({ uri }) => uri).sort(),
    prompts: byName(
      prompts.map((prompt) => [
        prompt.name,
        prompt.arguments.map((argument) => `${argument.name}${argument.required ? '' : '?'}`),
      ]),
    ),
  }) as JsonObject
}

function describe({
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
  return {
    name,
    input: inputSchema,
    output: outputSchema ?? null,
    annotations,
    errors,
    positional,
    flags,
    ...(streaming && { streaming }),
    ...(session && { session }),
  }
}

// Without prototype, so that no name means anything else.
function byName(entries: readonly (readonly [string, unknown])[]): object {
  return Object.assign(Object.create(null) as object, Object.fromEntries(entries))
}

function sorted(value: unknown): Json {
  return order(JSON.parse(JSON.stringify(value)) as Json)
}

function order(value: Json, key?: string): Json {
  if (Array.isArray(value)) {
    const items = value.map((item) => order(item))
    // The names of required fields are a set; in which order they were written is nobody's business.
    return key === 'required' && items.every((item) => typeof item === 'string')
      ? items.sort()
      : items
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, item]) => [name, order(item, name)]),
  )
}
