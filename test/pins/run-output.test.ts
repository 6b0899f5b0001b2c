import { expect, test } from 'vitest'
import { DIAGNOSTIC_REASONS } from '../../src/runner/output-lines.ts'

test('the reasons of diagnostics', () => {
  expect([...DIAGNOSTIC_REASONS].sort()).toEqual([
    'empty',
    'forged',
    'late',
    'more',
    'no_type',
    'not_an_object',
    'not_an_orchestrator',
    'not_json',
    'not_utf8',
    'second_start',
    'stderr',
    'too_deep',
    'too_long',
    'unknown_type',
    'wrong_field',
    'wrong_version',
  ])
})
