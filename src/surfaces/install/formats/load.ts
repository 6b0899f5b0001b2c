import type { Format } from './format.ts'

const FORMATS = {
  jsonc: async (): Promise<Format> => (await import('./jsonc.ts')).jsonc,
  toml: async (): Promise<Format> => (await import('./toml.ts')).toml,
} as const

/** A format with its parser, which is loaded only then. */
export function loadFormat(name: keyof typeof FORMATS): Promise<Format> {
  return FORMATS[name]()
}
