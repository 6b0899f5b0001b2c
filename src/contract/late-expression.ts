/**
 * A regular expression that is made at its first use, for those over classes of Unicode (`\p{L}`): node checks every literal while it reads a
 * file, and those take long to check. Not for global ones that keep a position.
 */
export function lateExpression(source: string, flags = 'u'): () => RegExp {
  let made: RegExp | undefined
  return () => (made ??= new RegExp(source, flags))
}
