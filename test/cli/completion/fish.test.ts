import { afterAll, describe, expect, test } from 'vitest'
import { makePlayground, TRAP } from './shell-fixture.ts'

const play = makePlayground('my-tool')
const odd = makePlayground('odd tool')
afterAll(() => {
  play.remove()
  odd.remove()
})

function complete(line: string, answer: readonly string[]): string[] {
  return play
    .run('fish', `source $SCRIPT; complete -C ${quote(line)}`, answer)
    .split('\n')
    .slice(0, -1)
}

function quote(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}

describe('fish', () => {
  test('asks for the words without quotes, keeps order and descriptions', () => {
    expect(complete(`my-tool a\\ b "c d" 'e\\'f' `, ['merge\tMerge it', 'list', ':none'])).toEqual([
      'merge\tMerge it',
      'list',
    ])
    expect(play.asked()).toEqual(['__complete', '--', 'a b', 'c d', "e'f", ''])
  })

  test('candidates are never evaluated', () => {
    expect(complete('my-tool ', ['with space', TRAP, "it's", ':none'])).toEqual([
      'with space',
      TRAP,
      "it's",
    ])
    expect(play.wasFooled()).toBe(false)
  })

  test('inside quotes that the user opened', () => {
    expect(complete('my-tool "wi', ['with space', ':none'])).toEqual(['with space'])
    expect(play.asked()).toEqual(['__complete', '--', 'wi'])
  })

  test('values behind = and words with :', () => {
    expect(complete('my-tool --output=js', ['--output=json', ':none'])).toEqual(['--output=json'])
    expect(play.asked()).toEqual(['__complete', '--', '--output=js'])
    expect(complete('my-tool a:', ['a:b', ':none'])).toEqual(['a:b'])
  })

  test('file names', () => {
    expect(complete('my-tool my', [':files'])).toEqual(['my file.txt'])
    expect(complete('my-tool --in=my', [':files'])).toEqual(['--in=my file.txt'])
    expect(complete('my-tool ', [':directories']).map((line) => line.split('\t')[0])).toEqual([
      'sub folder/',
    ])
  })

  test('a program that fails offers nothing, and no file names either', () => {
    expect(complete('my-tool ', [])).toEqual([])
    expect(complete('my-tool ', [':none'])).toEqual([])
  })

  test('a program with a space in its name', () => {
    expect(
      odd.run('fish', `source $SCRIPT; complete -C ${quote('odd\\ tool ')}`, ['a', ':none']),
    ).toBe('a\n')
  })
})
