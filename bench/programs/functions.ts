/**
 * Greet somebody.
 *
 * @param name - Whom to greet
 * @param options.times - How often
 */
export function greet(
  name: string,
  { loud = false, times = 1 }: { loud?: boolean; times?: number } = {},
): { text: string; times: number } {
  return { text: (loud ? 'HELLO ' : 'Hello ') + name, times }
}
