import { describe } from 'vitest'
import { rounds } from '../../support/rounds.ts'
import { openEmbedded } from './embedded-engine.ts'
import { killSeries } from './suite.ts'
import '../../support/without-coverage.ts'

describe('one series of kills for every engine [9.conformance]', () =>
  killSeries('the embedded engine', openEmbedded, rounds(50)))
