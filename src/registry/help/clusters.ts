/** `[-ABCFG1]` of a usage is a row of one-letter flags; `[-name]` is one flag. Gives the letters, or undefined. */
export function lettersOf(name: string, isKnown: (flag: string) => boolean): string[] | undefined {
  if (name.startsWith('--') || name.length < 3) return undefined
  const letters = [...name.slice(1)]
  if (new Set(letters).size !== letters.length || isKnown(name)) return undefined
  const flags = letters.map((letter) => `-${letter}`)
  if (flags.every((flag) => isKnown(flag))) return flags
  const folded = letters.map((letter) => letter.toLowerCase())
  const sorted = folded.every((letter, index) => index === 0 || folded[index - 1]! <= letter)
  const mixed =
    /[a-z]/.test(name) && /[A-Z]/.test(name) && !/^-[A-Z]?[a-z]+(?:[A-Z][a-z]+)*$/.test(name)
  const strange = /\d/.test(name) && /[A-Za-z]/.test(name) && letters.length > 3
  return sorted || mixed || strange || !/[aeiouy]/i.test(name) ? flags : undefined
}
