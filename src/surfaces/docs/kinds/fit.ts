const encoder = new TextEncoder()

/** How many bytes a text takes in a file. */
export function byteLength(text: string): number {
  return encoder.encode(text).length
}

/** The first of several versions of a document, from rich to poor, that takes at most so many bytes. The last one is taken whatever it takes: it has to be short by itself. */
export function firstThatFits<Version>(
  versions: readonly (() => Version)[],
  most: number,
  textOf: (version: Version) => string,
): Version {
  for (const make of versions.slice(0, -1)) {
    const version = make()
    if (byteLength(textOf(version)) <= most) return version
  }
  return versions.at(-1)!()
}
