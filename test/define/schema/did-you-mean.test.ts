import { describe, expect, test } from 'vitest'
import { findClosest } from '../../../src/util/text.ts'

describe('closest', () => {
  test.each([
    ['patern', ['pattern', 'root'], 'pattern'],
    ['tabel', ['table', 'csv'], 'table'],
    ['max-depth', ['max_depth', 'depth'], 'max_depth'],
    ['maxDepth', ['max-depth'], 'max-depth'],
    ['TABLE', ['csv', 'table'], 'table'],
    ['desc', ['description', 'name'], 'description'],
    ['discription', ['name', 'description'], 'description'],
    ['de', ['depth', 'description'], undefined],
    ['x', ['y', 'z'], undefined],
    ['x', ['x-ray'], undefined],
    ['apple', ['zebra', 'mango'], undefined],
    ['', ['a'], undefined],
    ['a', [], undefined],
    ['q'.repeat(10_000), ['q'.repeat(9999)], undefined],
  ])('%s in %j', (word, candidates, expected) => {
    expect(findClosest(word, candidates)).toBe(expected)
  })
})
