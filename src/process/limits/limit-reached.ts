/** A limit that a tree went beyond: which one, what it was, and what was seen, in the unit of the limit. */
export type LimitReached = {
  readonly what: 'cpuSeconds' | 'memoryMb' | 'processes' | 'workspaceMb'
  readonly allowed: number
  readonly seen: number
}
