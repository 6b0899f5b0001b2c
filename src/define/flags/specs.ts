import type { FlagOptions, ToolManifest } from '../../contract/manifest.ts'
import type { FlagSpec } from './flag-spec.ts'
import { FED_FIELDS } from './injected.ts'
import { readField } from './read-field.ts'
import { flagName } from './flag-name.ts'
import { inputFields } from './input-fields.ts'

type FlagSource = Pick<ToolManifest, 'inputSchema' | 'flags' | 'positional'>

/** How each input field of a tool is written on the command line: positionals first, then what is required, then the rest. */
export function flagSpecs(manifest: FlagSource): FlagSpec[] {
  const { properties, required } = inputFields(manifest.inputSchema)
  const specs = new Map<string, FlagSpec>()
  for (const [field, schema] of properties) {
    const options: FlagOptions = Object.hasOwn(manifest.flags, field) ? manifest.flags[field]! : {}
    const reading = readField(schema)
    const long = options.name ?? flagName(field)
    const fedBy = FED_FIELDS.get(field)
    specs.set(field, {
      field,
      long,
      ...(options.short !== undefined && { short: options.short }),
      schema,
      required: required.has(field) && !Object.hasOwn(reading, 'default'),
      positional: manifest.positional.includes(field),
      ...(options.env !== undefined && { env: options.env }),
      hidden: options.hidden ?? false,
      ...(fedBy === long && { fedBy }),
      ...reading,
    })
  }
  const positional = [...new Set(manifest.positional)].flatMap((field) => specs.get(field) ?? [])
  const others = [...specs.values()].filter((spec) => !spec.positional)
  return [...positional, ...others.filter((spec) => spec.required), ...others.filter((spec) => !spec.required)]
}
