import { toJsonText } from '../json-text.ts'
import { cleanLine } from './clean.ts'
import { truncateEnd, truncateMiddle } from './truncate.ts'

/** What a cell says where there is nothing. */
export const NOTHING = '-'

/** One value on one line: text clean, nothing as `-`, nested values as compact JSON. */
export function toCell(value: unknown): string {
  if (value === undefined || value === null || value === '') return NOTHING
  return cleanLine(typeof value === 'object' ? toJsonText(value) : String(value))
}

/** A cell in at most `width` columns; paths lose their middle, other text its end. */
export function fitCell(key: string, cell: string, width: number): string {
  return isPath(key, cell) ? truncateMiddle(cell, width) : truncateEnd(cell, width)
}

const PATH_KEY = /^(?:.*[_-])?(?:path|file|filename|dir|directory|folder|uri|url|root|cwd)$/i
const PATH_VALUE = /^(?:\.{0,2}\/|~\/|[a-z]:[\\/]|[a-z][a-z0-9+.-]{0,30}:\/\/)\S*$/i

function isPath(key: string, cell: string): boolean {
  return PATH_KEY.test(key) || PATH_VALUE.test(cell)
}
