import { z } from 'zod'
import type { PathRules } from './define/schema/path.ts'
import { compact } from './util/values.ts'

export type { PathRules } from './define/schema/path.ts'

/**
 * A zod string that is a path. The rules are checked by the call itself against the caller's
 * directory; with `resolve` the tool gets the absolute path.
 */
export function path(rules: PathRules = {}): z.ZodString {
  const given = Object.fromEntries(Object.entries(rules).filter(([, value]) => value !== undefined))
  return z
    .string()
    .meta(
      compact({
        format: 'path',
        'x-toolable-path': Object.keys(given).length > 0 ? given : undefined,
      }),
    )
}
