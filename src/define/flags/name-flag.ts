import type { ToolFacts } from '../../contract/manifest.ts'
import { flagName } from './flag-name.ts'
import type { FlagSpec } from './flag-spec.ts'
import { FED_FIELDS } from './injected.ts'

/** What a field is called on the command line and who gives it a value: all of a flag that does not depend on the schema of its field. */
export type NamedFlag = Pick<
  FlagSpec,
  'field' | 'long' | 'short' | 'positional' | 'env' | 'hidden' | 'fedBy'
>

/** The flag of a field as the author of a tool names it, or as its name gives it. */
export function nameFlag(
  field: string,
  { flags, positional }: Pick<ToolFacts, 'flags' | 'positional'>,
): NamedFlag {
  const options = Object.hasOwn(flags, field) ? flags[field]! : {}
  const long = options.name ?? flagName(field)
  const fedBy = FED_FIELDS.get(field)
  return {
    field,
    long,
    ...(options.short !== undefined && { short: options.short }),
    positional: positional.includes(field),
    ...(options.env !== undefined && { env: options.env }),
    hidden: options.hidden ?? false,
    ...(fedBy === long && { fedBy }),
  }
}
