import { describe } from 'vitest'
import { openEmbedded } from './embedded-engine.ts'
import { conformanceSuite } from './suite.ts'
import '../../support/without-coverage.ts'

describe('one suite for every engine [9.conformance]', () =>
  conformanceSuite('the embedded engine', openEmbedded))
