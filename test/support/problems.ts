/** Problems of a registry without "it answered after 201 ms": how fast a program answers is up to the machine. */
export function withoutSlow<T extends { readonly reason: string }>(problems: readonly T[]): T[] {
  return problems.filter(({ reason }) => reason !== 'slow')
}
