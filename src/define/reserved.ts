import { isObject } from '../contract/json.ts'
import type { JsonSchema } from '../contract/json.ts'

/** Which of the reserved fields an input declares, and under which spelling. */
export type ReservedFields = {
  readonly workingDir?: string
  readonly timeout?: string
  readonly dryRun?: string
  readonly verbose?: string
}

const SPELLINGS = {
  workingDir: ['working_dir', 'workingDir'],
  timeout: ['timeout'],
  dryRun: ['dry_run', 'dryRun'],
  verbose: ['verbose'],
} as const

/** Finds the reserved fields in an input schema; they are active only when declared. */
export function reservedFields(schema: JsonSchema): ReservedFields {
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  const found: { -readonly [Name in keyof ReservedFields]: string } = {}
  for (const [name, spellings] of Object.entries(SPELLINGS) as [
    keyof ReservedFields,
    readonly string[],
  ][]) {
    const spelling = spellings.find((candidate) => Object.hasOwn(properties, candidate))
    if (spelling) found[name] = spelling
  }
  return found
}
