import { acor } from './acor.ts'
import type { DialectName, DialectWriter } from './dialect.ts'
import { native } from './native.ts'
import { simple } from './simple.ts'
import { toolable } from './toolable.ts'
import { tooli } from './tooli.ts'

const WRITERS: { readonly [Name in DialectName]: DialectWriter } = { native, toolable, tooli, acor, simple }

/** Every dialect, the default first. */
export const DIALECT_NAMES = Object.keys(WRITERS) as readonly DialectName[]

/** True for the name of a dialect. */
export function isDialectName(name: string): name is DialectName {
  return Object.hasOwn(WRITERS, name)
}

/** The writer of a dialect. */
export function writerOf(name: DialectName): DialectWriter {
  return WRITERS[name]
}
