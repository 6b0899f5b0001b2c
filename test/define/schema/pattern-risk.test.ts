import { describe, expect, test } from 'vitest'
import { isRiskyPattern } from '../../../src/define/schema/plain-validator.ts'

describe('patterns that may take long', () => {
  test.each([
    '^[a-z]+$',
    '^[a-z0-9_-]{1,64}$',
    '^\\d{4}-\\d{2}-\\d{2}$',
    '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{12}$',
    '^(foo|bar)$',
    'abc',
    '^x',
    '^/',
    '^\\p{L}+$',
    '^(?:yes|no)?$',
    '^.{1,5000}$',
    '',
  ])('%s is harmless', (pattern) => expect(isRiskyPattern(pattern)).toBe(false))

  test.each([
    '(a+)+$',
    '^(a|aa)+$',
    '\\s+$',
    '^(a)b|c+$',
    '^a*a*$',
    '(.*a){20}',
    '(?=a+)b',
    '(a)\\1',
    '^a?a?a?a?a?a?a?a?a*$',
    'a{1,1000}b',
    '[a-z]{5000}x',
    '^(ab){2,}$',
    'x'.repeat(2000),
  ])('%s is watched', (pattern) => expect(isRiskyPattern(pattern)).toBe(true))

  test('what is called harmless comes to an end on long texts', () => {
    const texts = ['a', ' ', '0', '-', 'ab'].map((unit) => `${unit.repeat(100_000 / unit.length)}!`)
    for (const pattern of [
      '^[a-z]+$',
      '^[a-z0-9_-]{1,64}$',
      '^(foo|bar)$',
      '^[a-z ]*x?y?$',
      'a{1,60}b',
      '^\\p{L}+$',
    ]) {
      expect(isRiskyPattern(pattern)).toBe(false)
      for (const text of texts) new RegExp(pattern, 'u').test(text)
    }
  })
})
