import { expect, test } from 'vitest'
import { listFences } from '../../scripts/docs/fences.mjs'
import { refreshPage } from '../../scripts/docs/refresh.mjs'

const fence = '```'

test('a sample that differs from its file is replaced', () => {
  const page = `<!-- region examples/hello/hello.mjs#program -->\n${fence}js\nold()\n${fence}\n`
  expect(refreshPage(page)).toContain("name: 'greet'")
  expect(refreshPage(refreshPage(page))).toBe(refreshPage(page))
  expect(() => refreshPage(page.replace('#program', '#nosuch'))).toThrow("has no region 'nosuch'")
})

test('an output that is not true is replaced; … stands for what is left out', () => {
  const block = (output: string) =>
    `${fence}console terminal\n$ greet Ada --times 2\n${output}$ greet\n…\n$ echo $?\n0\n${fence}\n`
  expect(refreshPage(block('Hello, Ada! Hello…\n'))).toBe(block('Hello, Ada! Hello…\n'))
  expect(refreshPage(block('Hello, Bob!\n'))).toBe(block('Hello, Ada! Hello, Ada!\n'))
})

test('the table of codes is written between its marks', () => {
  expect(refreshPage('<!-- error table -->\nold\n<!-- end -->')).toContain(
    '| `TIMEOUT` | The deadline passed | runtime | infra_error | 124 | 504 | no | no |',
  )
})

test('the table of agents is written between its marks', () => {
  expect(refreshPage('<!-- agent table -->\nold\n<!-- end -->')).toContain(
    '| `codex` | `.codex/config.toml` | `~/.codex/config.toml` | `.agents/skills`, `~/.agents/skills` |',
  )
})

test('fences are found with their words', () => {
  expect(listFences(`${fence}js run\na()\n${fence}\n\n${fence}\nplain\n${fence}\n`)).toEqual([
    { language: 'js', words: ['run'], body: 'a()\n', region: undefined },
    { language: '', words: [], body: 'plain\n', region: undefined },
  ])
})
