import { sourceOf } from './run-program.ts'

/** The program `toolable` as people run it, seen from the fixtures. Where lines are counted it is the one whose lines lead back to src/. */
export const TOOLABLE = process.env['NODE_V8_COVERAGE'] === undefined ? '../../dist/toolable.cjs' : '../../dist/bin.js'

/** The same as a path. */
export const TOOLABLE_PATH = sourceOf(TOOLABLE)
