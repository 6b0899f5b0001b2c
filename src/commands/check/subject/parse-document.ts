import { parseJson } from '../../../define/schema/parse-json.ts'
import type { Ran } from './subject.ts'

/** The one JSON document that a run printed on stdout; undefined where it printed anything else. */
export function documentOf({ stdout }: Ran): { readonly value: unknown } | undefined {
  const parsed = stdout.trim() === '' ? undefined : parseJson(stdout)
  return parsed?.ok ? { value: parsed.value } : undefined
}

/** The beginning of what a run said, for a person. */
export function excerpt({ stdout, stderr }: Pick<Ran, 'stdout' | 'stderr'>): string {
  const said = (stdout.trim() || stderr.trim()).replace(/\s+/g, ' ')
  if (said === '') return 'nothing'
  return JSON.stringify(said.length > 100 ? `${said.slice(0, 97)}...` : said)
}

/** How a run ended, in words. */
export function ending({ status, trouble }: Ran): string {
  return trouble ?? `exit ${status}`
}
