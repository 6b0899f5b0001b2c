import { afterAll, afterEach, beforeAll } from 'vitest'

/**
 * What all tests of a file use together: a test that failed leaves it in any state, so the next one
 * gets a new one. `close` has to get along with what was opened in part.
 */
export function renewAfterFailure(open: () => Promise<void>, close: () => Promise<void>): void {
  beforeAll(open)
  afterEach(async ({ task }) => {
    if (task.result?.state !== 'fail') return
    try {
      await close()
    } finally {
      await open()
    }
  })
  afterAll(close)
}
