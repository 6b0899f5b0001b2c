import type { ToolManifest } from '../../contract/manifest.ts'
import type { FlagSpec } from './flag-spec.ts'
import { inputFields } from './input-fields.ts'
import { nameFlag } from './name-flag.ts'
import { readField } from './read-field.ts'

type FlagSource = Pick<ToolManifest, 'inputSchema' | 'flags' | 'positional'>

/** How each input field of a tool is written on the command line: positionals first, then what is required, then the rest. */
export function flagSpecs(manifest: FlagSource): FlagSpec[] {
  const { properties, required } = inputFields(manifest.inputSchema)
  const specs = new Map<string, FlagSpec>()
  for (const [field, schema] of properties) {
    const reading = readField(schema)
    specs.set(field, {
      ...nameFlag(field, manifest),
      schema,
      required: required.has(field) && !Object.hasOwn(reading, 'default'),
      ...reading,
    })
  }
  const positional = [...new Set(manifest.positional)].flatMap((field) => specs.get(field) ?? [])
  const others = [...specs.values()].filter((spec) => !spec.positional)
  return [
    ...positional,
    ...others.filter((spec) => spec.required),
    ...others.filter((spec) => !spec.required),
  ]
}
