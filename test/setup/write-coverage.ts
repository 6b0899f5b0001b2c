import { takeCoverage } from 'node:v8'
import { afterAll } from 'vitest'

const isWanted = process.env['NODE_V8_COVERAGE'] !== undefined

// Vitest ends its workers with a signal, and a process that dies by a signal writes no coverage of
// its own.
afterAll(() => {
  if (isWanted) takeCoverage()
})
