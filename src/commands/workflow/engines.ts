import type { Execute } from './execute-type.ts'

/** The engines by their names; each is loaded when it is wanted. */
export const ENGINES: { readonly [name: string]: () => Promise<Execute> } = {
  embedded: async () => (await import('./execute-embedded.ts')).executeEmbedded,
  restate: async () => (await import('./execute-restate.ts')).executeRestate,
}
