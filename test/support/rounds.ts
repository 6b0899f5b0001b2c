// How many times more than usual `npm run test:soak` repeats a random series.
const SOAK_FACTOR = Number(process.env['TEST_SOAK'] ?? 1)

/**
 * How often a random or long series is repeated: `usual` times, and many times more in `npm run
 * test:soak`.
 *
 * Files that import this module are the soak suite.
 */
export function rounds(usual: number): number {
  return usual * SOAK_FACTOR
}
