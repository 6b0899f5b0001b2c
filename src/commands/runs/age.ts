import { ToolError } from '../../contract/tool-error.ts'

const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const

/** Milliseconds of an age as people write it: `30m`, `12h`, `7d`. Throws INVALID_INPUT. */
export function readAge(text: string, field: string): number {
  const match = /^(\d{1,6})([smhdw])$/.exec(text.trim())
  if (match) return Number(match[1]) * UNITS[match[2] as keyof typeof UNITS]
  throw new ToolError(
    'INVALID_INPUT',
    `'${text.slice(0, 100)}' is not an age: give a number with s, m, h, d or w`,
    { field, suggestion: '--older-than 7d' },
  )
}
