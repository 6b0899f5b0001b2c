// Names that Windows keeps for devices, whatever ending follows.
const DEVICES = /^(?:con|prn|aux|nul|com\d|lpt\d)$/
const LONGEST = 60

/** File names for texts: lower-case ASCII, no two alike, none of the given ones, usable on every system. */
export function makeSlugs(...reserved: readonly string[]): (text: string) => string {
  const taken = new Set(reserved)
  return (text) => {
    const plain = text
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, LONGEST)
      .replace(/-+$/, '')
    const base = plain === '' ? 'other' : DEVICES.test(plain) ? `${plain}-commands` : plain
    let slug = base
    for (let count = 2; taken.has(slug); count++) slug = `${base}-${count}`
    taken.add(slug)
    return slug
  }
}

/** The name of a skill or an agent: lower-case letters, digits and single hyphens, at most 64. */
export function skillName(program: string): string {
  return program.replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '') || 'tools'
}
