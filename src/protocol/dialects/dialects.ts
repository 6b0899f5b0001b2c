/**
 * The table of output dialects.
 *
 * A new dialect is one file in this folder that exports `dialect`, and one line in this table. The
 * choices of `--dialect`, help and the type `DialectName` follow from the table.
 */

import type { DialectWriter } from '../output-protocols.ts'

type DialectModule = { readonly dialect: DialectWriter }

export const DIALECTS = {
  native: () => import('./native.ts'),
  toolable: () => import('./toolable.ts'),
  tooli: () => import('./tooli.ts'),
  acor: () => import('./acor.ts'),
  simple: () => import('./simple.ts'),
} as const satisfies { readonly [name: string]: () => Promise<DialectModule> }

/** The forms in which a call can be answered: our own, and that of each specification. */
export type DialectName = keyof typeof DIALECTS
export const DIALECT_NAMES = Object.keys(DIALECTS) as readonly DialectName[]
