import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What the public names of this package can load later, as its own build has found out. */
export type OwnReach = {
  readonly files: readonly string[]
  readonly names: { readonly [entry: string]: { readonly [name: string]: readonly number[] } }
}

/** The public names that a program uses, by the module that it imports them from. */
export type UsedNames = { readonly [entry: string]: readonly string[] }

/** Reads the table that lies beside the built files of this package. */
export function readReach(ownFolder: string): OwnReach {
  return JSON.parse(readFileSync(join(ownFolder, 'reach.json'), 'utf8')) as OwnReach
}

/** The files of this package that a program with these names may load by `import()`, absolute. */
export function filesWithin(
  { files, names }: OwnReach,
  used: UsedNames,
  ownFolder: string,
): ReadonlySet<string> {
  return new Set(
    Object.entries(used).flatMap(([entry, each]) =>
      each.flatMap((name) => names[entry]![name]!.map((index) => join(ownFolder, files[index]!))),
    ),
  )
}
