import { lateExpression } from '../../contract/late-expression.ts'

const HUMP = lateExpression('(\\p{Ll}|\\p{N})(\\p{Lu})', 'gu')
const END_OF_CAPITALS = lateExpression('(\\p{Lu})(\\p{Lu}\\p{Ll})', 'gu')
const OTHERS = lateExpression('[^\\p{L}\\p{N}]+', 'gu')

/** The flag of a field, without dashes: `maxDepth` and `max_depth` are both `max-depth`. Empty when nothing of the name can be typed. */
export function flagName(field: string): string {
  // Most names need no work, and the regular expressions for all of Unicode are slow to make.
  if (/^[a-z0-9]+$/.test(field)) return field
  const split = /^[\x20-\x7e]*$/.test(field)
    ? field
        .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
        .replace(/([A-Z])([A-Z][a-z])/g, '$1-$2')
        .replace(/[^A-Za-z0-9]+/g, '-')
    : field.replace(HUMP(), '$1-$2').replace(END_OF_CAPITALS(), '$1-$2').replace(OTHERS(), '-')
  return split.replace(/^-+|-+$/g, '').toLowerCase()
}
