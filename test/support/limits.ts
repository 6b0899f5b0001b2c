/**
 * So long that only a hang reaches it, on a machine ten times slower than yours; shorter than a test
 * may take, so that the test can say what it waited for.
 */
export const HANG_MS = 240_000
