import type { DialectName, DialectWriter } from './dialect.ts'
import { native } from './native.ts'

/** The writer of a dialect; all but our own are loaded when they are asked for. */
export async function loadWriter(name: DialectName): Promise<DialectWriter> {
  return name === 'native' ? native : (await import('./index.ts')).writerOf(name)
}
