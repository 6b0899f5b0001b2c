import { createHash } from 'node:crypto'

/** A name that every surface can carry. */
export function validName(foreign: string): string {
  const name = foreign.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase().replace(/[^a-z0-9_-]+/g, '_').replace(/^_+|_+$/g, '')
  return name === '' || name.length > 64 ? distinctName(name, foreign) : name
}

/** The same name, told apart from others by a seed. */
export function distinctName(name: string, seed: string): string {
  const hash = createHash('sha256').update(seed).digest('hex').slice(0, 6)
  return `${name.slice(0, 57) || 'tool'}_${hash}`
}

/** The name of a tool whose bare name means another one. */
export function shadowedName(source: string, bare: string): string {
  return validName(`${source}__${bare}`)
}
