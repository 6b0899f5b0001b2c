import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { requirements } from './requirements.ts'

const folder = fileURLToPath(new URL('.', import.meta.url))
const cited = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(test|test-d)\.ts$/.test(name) && !name.includes('node_modules'))
  .flatMap((file) =>
    listCitations(readFileSync(join(folder, file), 'utf8')).map((id) => ({ file, id })),
  )

describe('the manifest of promises', () => {
  test('ids are kebab-case with the section in front, and every promise is a sentence', () => {
    expect(
      Object.keys(requirements).filter(
        (id) => !/^(2|3|4|5|6|7|8|9|10|11|12)\.[a-z0-9]+(-[a-z0-9]+)*$/.test(id),
      ),
    ).toEqual([])
    expect(
      Object.entries(requirements).filter(
        ([id, { section, sentence }]) => !id.startsWith(`${section}.`) || !sentence.endsWith('.'),
      ),
    ).toEqual([])
  })

  test('every promise is cited in the title of a test', () => {
    const found = new Set(cited.map(({ id }) => id))
    const missing = Object.entries(requirements).filter(
      ([id, { later }]) => later !== true && !found.has(id),
    )
    expect(missing.map(([id, { sentence }]) => `[${id}] ${sentence}`)).toEqual([])
  })

  test('every citation names a promise', () => {
    expect(cited.filter(({ id }) => !Object.hasOwn(requirements, id))).toEqual([])
  })

  test('a promise that is cited is not called later', () => {
    expect(cited.filter(({ id }) => requirements[id]?.later === true)).toEqual([])
  })
})

describe('reading citations', () => {
  test('takes them from titles of tests and groups, each and templates included, and from nowhere else', () => {
    const titles =
      "test('one [3.a-b] and [5.c]', f); describe(`two [12.d] ${x}`, f); test.each(t)('three [4.e]', f)"
    expect(listCitations(titles)).toEqual(['3.a-b', '5.c', '12.d', '4.e'])
    expect(listCitations("// [3.x]\nexpect('[3.y]').toBe(z); test('list[0] [a.b]', f)")).toEqual([])
  })
})

function listCitations(text: string): string[] {
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && isTestFunction(node.expression)) {
      const title = node.arguments[0]
      if (title !== undefined)
        found.push(
          ...[...title.getText().matchAll(/\[(\d+\.[a-z0-9-]+)\]/g)].map((match) => match[1] ?? ''),
        )
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile('test.ts', text, ts.ScriptTarget.Latest, true))
  return found
}

function isTestFunction(node: ts.Expression): boolean {
  if (ts.isIdentifier(node)) return ['test', 'it', 'describe'].includes(node.text)
  if (ts.isPropertyAccessExpression(node) || ts.isCallExpression(node))
    return isTestFunction(node.expression)
  return false
}
