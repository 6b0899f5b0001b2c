/** Where something stands in a file; both count from 1. */
export type Place = { readonly line: number; readonly column: number }

/** The keys that lead to a value. */
export type KeyPath = readonly (string | number)[]

/** A file that was understood, and where its parts stand. */
export type LocatedDocument = {
  readonly value: unknown
  /** The place of what a path names: of its key where it has one. Late, because it is asked only for faults. */
  locate(path: KeyPath): Promise<Place | undefined>
}

/** The place of a character in a text. */
export function placeAt(text: string, offset: number): Place {
  const before = text.slice(0, offset)
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') }
}
