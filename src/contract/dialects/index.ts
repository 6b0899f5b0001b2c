import { acor } from './acor.ts'
import type { DialectName, DialectWriter } from './dialect.ts'
import { native } from './native.ts'
import { simple } from './simple.ts'
import { toolable } from './toolable.ts'
import { tooli } from './tooli.ts'

const WRITERS: { readonly [Name in DialectName]: DialectWriter } = {
  native,
  toolable,
  tooli,
  acor,
  simple,
}

/** The writer of a dialect. */
export function writerOf(name: DialectName): DialectWriter {
  return WRITERS[name]
}
