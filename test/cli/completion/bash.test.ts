import { afterAll, describe, expect, test } from 'vitest'
import { makePlayground, TRAP } from './shell-fixture.ts'

const play = makePlayground('my-tool')
const odd = makePlayground("it's $odd tool")
afterAll(() => {
  play.remove()
  odd.remove()
})

/** Calls the completion function as readline does; `words` are cut where readline cuts them. */
function complete(
  line: string,
  words: readonly string[],
  answer: readonly string[],
  { before = '', point = line.length } = {},
): string[] {
  const quoted = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`)
  return play
    .run(
      'bash',
      `
    ${before}
    source "$SCRIPT"
    COMP_LINE='${line.replaceAll("'", `'\\''`)}' COMP_POINT=${point} COMP_WORDS=(my-tool ${quoted.join(' ')}) COMP_CWORD=${words.length}
    __my_tool_complete my-tool
    for each in "\${COMPREPLY[@]}"; do printf '%s\\n' "$each"; done
  `,
      answer,
    )
    .split('\n')
    .slice(0, -1)
}

describe('bash', () => {
  test('asks for the words up to the cursor and offers what comes back', () => {
    expect(complete('my-tool pr ', ['pr', ''], ['list\tList them', 'merge', ':none'])).toEqual([
      'list',
      'merge',
    ])
    expect(play.asked()).toEqual(['__complete', '--', 'pr', ''])
  })

  test('what follows the cursor is not asked about', () => {
    complete('my-tool listing', ['listing'], [':none'], { point: 'my-tool li'.length })
    expect(play.asked()).toEqual(['__complete', '--', 'li'])
  })

  test('words are asked for without their quotes, and nothing in them is expanded', () => {
    complete(
      `my-tool a\\ b "c \\$d" 'e'\\''f' $HOME ${TRAP}`,
      ['a\\ b', '"c \\$d"', `'e'\\''f'`, '$HOME', TRAP],
      [':none'],
    )
    expect(play.asked()).toEqual(['__complete', '--', 'a b', 'c $d', "e'f", '$HOME', TRAP])
    expect(play.wasFooled()).toBe(false)
  })

  test('candidates are quoted, never evaluated', () => {
    expect(complete('my-tool ', [''], ['with space', "it's", TRAP, 'a*', ':none'])).toEqual([
      'with\\ space',
      "it\\'s",
      '\\$\\(touch\\ fooled\\)\\`touch\\ fooled\\`',
      'a\\*',
    ])
    expect(play.wasFooled()).toBe(false)
  })

  test('inside quotes that the user opened', () => {
    expect(complete(`my-tool 'i`, [`'i`], [`it's $5`, ':none'])).toEqual([`it'\\''s $5`])
    expect(complete(`my-tool "i`, [`"i`], ['i "$5" `x` \\', ':none'])).toEqual([
      'i \\"\\$5\\" \\`x\\` \\\\',
    ])
    expect(play.asked()).toEqual(['__complete', '--', 'i'])
  })

  test('words that readline cut at = are put together, and only the last part is given back', () => {
    expect(
      complete(
        'my-tool run --output=js',
        ['run', '--output', '=', 'js'],
        ['--output=json', '--output=jsonl', ':none'],
      ),
    ).toEqual(['json', 'jsonl'])
    expect(play.asked()).toEqual(['__complete', '--', 'run', '--output=js'])
    expect(complete('my-tool --output=', ['--output', '='], ['--output=json', ':none'])).toEqual([
      'json',
    ])
    expect(complete('my-tool --a = b', ['--a', '=', 'b'], [':none'])).toEqual([])
    expect(play.asked()).toEqual(['__complete', '--', '--a', '=', 'b'])
  })

  test('the same for :', () => {
    expect(
      complete('my-tool notes:a', ['notes', ':', 'a'], ['notes:all', 'notes:any', ':none']),
    ).toEqual(['all', 'any'])
    expect(play.asked()).toEqual(['__complete', '--', 'notes:a'])
  })

  test('whole candidates where the user took = and : from the word breaks', () => {
    expect(
      complete('my-tool --output=js', ['--output=js'], ['--output=json', ':none'], {
        before: `COMP_WORDBREAKS=' '`,
      }),
    ).toEqual(['--output=json'])
  })

  test('file names', () => {
    expect(complete('my-tool my', ['my'], [':files'])).toEqual(['my file.txt'])
    expect(complete('my-tool --in=my', ['--in', '=', 'my'], [':files'])).toEqual(['my file.txt'])
    expect(
      complete('my-tool --in=my', ['--in=my'], [':files'], { before: `COMP_WORDBREAKS=' '` }),
    ).toEqual(['--in=my file.txt'])
    expect(complete('my-tool ', [''], ['-', ':directories'])).toEqual(['-', 'sub folder'])
  })

  test('strict shells', () => {
    expect(complete('my-tool ', [''], [':none'], { before: 'set -uf; shopt -s failglob' })).toEqual(
      [],
    )
    expect(
      complete('my-tool ', [''], ['a?', ':none'], { before: 'set -uf; shopt -s failglob' }),
    ).toEqual(['a\\?'])
  })

  test('a program that fails offers nothing', () => {
    expect(complete('my-tool ', [''], [])).toEqual([])
  })

  test('a program with an odd name', () => {
    const script = `source "$SCRIPT"; complete -p "it's \\$odd tool" >/dev/null && echo known; COMP_WORDS=(x '') COMP_CWORD=1 COMP_LINE='x ' COMP_POINT=2; __it_x27_s_x20__x24_odd_x20_tool_complete; echo "\${COMPREPLY[@]}"`
    expect(odd.run('bash', script, ['a', ':none'])).toBe('known\na\n')
  })
})
