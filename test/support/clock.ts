import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { makeFolder, sourceOf } from './run-program.ts'

/** The clock of a program under test, which the test moves. */
export type TestClock = {
  /** The environment of the program. */
  readonly env: { readonly [name: string]: string }
  /** Moves the clock; resolves when the program has seen it and its timers have fired. */
  advance(seconds: number): Promise<void>
}

/**
 * A clock for one program: deadlines are reached when the test says so, however slow the machine
 * is.
 */
export function makeClock(): TestClock {
  const file = join(makeFolder(), 'clock')
  const seen = `${file}.seen`
  let aheadMs = 0
  writeFileSync(file, '0')
  return {
    env: { NODE_OPTIONS: `--require ${sourceOf('test-clock.cjs')}`, TEST_CLOCK: file },
    async advance(seconds) {
      aheadMs += seconds * 1000
      // At once, so that the program never reads half a number.
      writeFileSync(`${file}.new`, String(aheadMs))
      renameSync(`${file}.new`, file)
      await expect.poll(() => existsSync(seen) && readFileSync(seen, 'utf8')).toBe(String(aheadMs))
    },
  }
}
