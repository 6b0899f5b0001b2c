import { sourceOf } from './run-program.ts'

/**
 * `toolable` in its modules, for tests that look at which of them are loaded; seen from the
 * fixtures.
 */
export const TOOLABLE_IN_MODULES = '../../dist/bin.js'

/**
 * The program `toolable` as people run it, seen from the fixtures. Where lines are counted it is
 * the one whose lines lead back to src/.
 */
export const TOOLABLE =
  process.env['NODE_V8_COVERAGE'] === undefined ? '../../dist/toolable.cjs' : TOOLABLE_IN_MODULES

/** The same as a path. */
export const TOOLABLE_PATH = sourceOf(TOOLABLE)
