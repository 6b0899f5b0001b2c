import type { FlagOptions, ToolManifest } from '../../contract/manifest.ts'
import type { FlagSpec } from './flag-spec.ts'
import { FED_FIELDS } from './injected-flags.ts'
import { readField } from './read-field.ts'
import { inputFields } from './input-fields.ts'

export { checkFlags } from './check-flags.ts'

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

/** The flag of a field, without dashes: `maxDepth` and `max_depth` are both `max-depth`. Empty when nothing of the name can be typed. */
export function flagName(field: string): string {
  return field
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1-$2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1-$2')
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .toLowerCase()
}
