import { isObject } from '../../../contract/json.ts'
import type { FlagSpec } from '../../../define/flags/flag-spec.ts'
import type { Globals } from './globals.ts'

type Fields = Record<string, unknown>

/** Gives reserved fields the value of the injected flag that feeds them. */
export function feedReserved(
  specs: readonly FlagSpec[],
  input: unknown,
  globals: Globals,
): unknown {
  const fed: Fields = Object.create(null) as Fields
  for (const { field, fedBy, kind } of specs) {
    if (fedBy === 'timeout' && globals.timeout !== undefined) fed[field] = asNumber(globals.timeout)
    if (fedBy === 'dry-run' && globals.dryRun) fed[field] = true
    if (fedBy === 'verbose' && globals.verbose > 0)
      fed[field] = kind === 'boolean' ? true : globals.verbose
  }
  return Object.keys(fed).length > 0 && (isObject(input) || input === undefined)
    ? Object.assign(Object.create(null) as Fields, input, fed)
    : input
}

// The field is a number of seconds in most tools; `500ms` stays text for those that take it.
function asNumber(text: string): unknown {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : text
}
