import { afterAll, describe, expect, test } from 'vitest'
import { makePlayground, TRAP } from './shell-fixture.ts'

const play = makePlayground('my-tool')
afterAll(() => play.remove())

describe.each(['bash', 'zsh'] as const)('%s at the keyboard', (shell) => {
  test.each([
    ['my-tool wi', ['with space\tdescribed', ':none'], '<my-tool><with space>'],
    ['my-tool --out=j', ['--out=json', ':none'], '<my-tool><--out=json>'],
    ['my-tool a:', ['a:b c', ':none'], '<my-tool><a:b c>'],
    ['my-tool a', [`a${TRAP}`, ':none'], `<my-tool><a${TRAP}>`],
    ['my-tool "a', [`a"${TRAP}`, ':none'], `<my-tool><a"${TRAP}>`],
    ["my-tool 'i", ["it's", ':none'], "<my-tool><it's>"],
    ['my-tool --in=my', [':files'], '<my-tool><--in=my file.txt>'],
    ['my-tool "my', [':files'], '<my-tool><my file.txt>'],
  ])('%s', (keys, answer, expected) => {
    expect(play.press(shell, keys, answer)).toBe(expected)
    expect(play.wasFooled()).toBe(false)
  })
})
