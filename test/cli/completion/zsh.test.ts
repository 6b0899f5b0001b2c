import { afterAll, describe, expect, test } from 'vitest'
import { makePlayground, quote, TRAP } from './shell-fixture.ts'

const play = makePlayground('my-tool')
afterAll(() => play.remove())

describe('zsh', () => {
  /**
   * Calls the completion function with what the completion system would give it, and shows what it
   * adds.
   */
  function add(words: readonly string[], answer: readonly string[]): string[] {
    return play
      .run(
        'zsh',
        `
      source "$SCRIPT"
      compadd() { print -r -- "compadd $@"; print -rl -- "$values[@]"; [[ "$*" == *-d* ]] && print -rl -- "$lines[@]" }
      compset() { print -r -- "compset $@" }
      _files() { print -r -- "_files $@" }
      words=(my-tool ${words.map(quote).join(' ')}) CURRENT=${words.length + 1} PREFIX=${quote(words.at(-1) ?? '')}
      _my_tool || true
    `,
        answer,
      )
      .split('\n')
      .slice(0, -1)
  }

  test('asks for the words without quotes, and shows descriptions beside the candidates', () => {
    expect(
      add(
        ['a\\ b', '"c d"', `'e'\\''f'`, TRAP, ''],
        ['list\tList: them', 'merge-all\t100%', 'x', ':none'],
      ),
    ).toEqual([
      'compadd -V my_tool -l -d lines -a -- values',
      'list',
      'merge-all',
      'x',
      'list       -- List: them',
      'merge-all  -- 100%',
      'x',
    ])
    expect(play.asked()).toEqual(['__complete', '--', 'a b', 'c d', "e'f", TRAP, ''])
    expect(play.wasFooled()).toBe(false)
  })

  test('an empty first word', () => {
    expect(add([''], ['a', ':none'])).toEqual(['compadd -V my_tool -a -- values', 'a'])
    expect(play.asked()).toEqual(['__complete', '--', ''])
  })

  test('file names', () => {
    expect(add(['--in=my'], [':files'])).toEqual(['compset -P --[^=]##=', '_files '])
    expect(add([''], [':directories'])).toEqual(['_files -/'])
  })

  test('a program that fails offers nothing', () => {
    expect(add([''], [])).toEqual([])
  })
})
