import { expect, test } from 'vitest'
import '../support/without-coverage.ts'
import { toolable, writeProject } from './support.ts'

const folder = writeProject({
  'package.json': '{"name":"common"}',
  'a.cts':
    "import helper = require('./helper')\nconst { twice } = require('./other')\nconst { kind } = require('./modern')\nexport function double(value: number): string { return kind + twice(helper.same(value)) }\n",
  'helper.cts': 'export function same(value: number): number { return value }\n',
  'other.ts': 'enum Times { Two = 2 }\nexports.twice = (value: number) => value * Times.Two\n',
  'modern.ts': "export const kind: string = 'number '\n",
  'whole.js':
    "const { twice } = require('./other')\nconst { ten } = require('./folder')\n/** @param {number} value */\nfunction much(value) { return ten(twice(value)) }\nmodule.exports = { much, inline: /** @param {string} text */ (text) => text.length }\n",
  'folder/index.ts': 'export const ten = (value: number): number => value * 10\n',
  'one.js':
    '/** @param {number} value */\nmodule.exports = function next(value) { return value + 1 }\n',
  'whole.cts':
    "const helper = require('./helper')\nfunction plus(value: number): number { return helper.same(value) + 1 }\nexport = { plus }\n",
  'modern.mts':
    "import { same } from './helper.cjs'\nimport { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)\nexport function both(value: number): number { return same(value) + require('./other').twice(value) }\n",
  'plain.mjs':
    "import { ten } from './folder/index.js'\n/** @param {number} value */\nexport const more = (value) => ten(value)\n",
})

test('CommonJS requires TypeScript by any name, and JavaScript imports it [3.functions-commonjs] [3.functions-jsdoc]', async () => {
  const call = async (...words: string[]): Promise<unknown> =>
    (await toolable(words, { cwd: folder })).json
  expect(await call('./a.cts', 'double', '3')).toMatchObject({ result: 'number 6' })
  expect(await call('./whole.js', 'much', '2')).toMatchObject({ result: 40 })
  expect(await call('./whole.js', 'inline', 'abc')).toMatchObject({ result: 3 })
  expect(await call('./one.js', 'next', '3')).toMatchObject({ result: 4 })
  expect(await call('./whole.cts', 'plus', '3')).toMatchObject({ result: 4 })
  expect(await call('./modern.mts', 'both', '3')).toMatchObject({ result: 9 })
  expect(await call('./plain.mjs', 'more', '3')).toMatchObject({ result: 30 })
})
