import type { LimitReached } from './limit-reached.ts'

const WORDS: { readonly [what in LimitReached['what']]: readonly [used: string, unit: string] } = {
  cpuSeconds: ['used', 'seconds of processor time'],
  memoryMb: ['used', 'MB of memory'],
  processes: ['had', 'processes and threads'],
  workspaceMb: ['filled', 'MB of its workspace'],
}

/** What a tree did too much of, as the rest of a sentence: `used 540 MB of memory, of which 512 are allowed`. */
export function describeLimit({ what, allowed, seen }: LimitReached): string {
  const [used, unit] = WORDS[what]
  return `${used} ${seen} ${unit}, of which ${allowed} are allowed`
}
