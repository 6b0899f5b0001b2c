import { shorten } from '../../../../src/util/text.ts'

const LONGEST = 200

/** An answer in one line. */
export function valueText(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return shorten(typeof value === 'string' ? value : (JSON.stringify(value) ?? '–'), LONGEST)
}
