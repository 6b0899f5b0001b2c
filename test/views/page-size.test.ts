import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../dist/dashboard/', import.meta.url))
const names = readdirSync(`${root}assets`)
const texts = new Map(
  names
    .filter((name) => name.endsWith('.js'))
    .map((name) => [name, readFileSync(`${root}assets/${name}`, 'utf8')]),
)
const page = readFileSync(`${root}index.html`, 'utf8')
const entry = /src="\/assets\/([^"]+\.js)"/.exec(page)![1]!

const compressed = (name: string): number =>
  gzipSync(readFileSync(`${root}assets/${name}`), { level: 9 }).length
const sizeOf = (scripts: Iterable<string>): number =>
  [...scripts].reduce((sum, name) => sum + compressed(name), 0)

/** What a script loads before it runs, itself included. */
function withImports(name: string, seen = new Set<string>()): Set<string> {
  if (seen.has(name)) return seen
  seen.add(name)
  for (const [, other] of texts
    .get(name)!
    .matchAll(/(?:from|import)\s*[`'"]\.\/([\w.-]+\.js)[`'"]/g))
    withImports(other!, seen)
  return seen
}

/** What a script loads when somebody goes there. */
function lateOf(name: string): string[] {
  return [...texts.get(name)!.matchAll(/import\(\s*[`'"]\.\/([\w.-]+\.js)[`'"]\s*\)/g)].map(
    ([, other]) => other!,
  )
}

describe('the page of the dashboard', () => {
  test('loads at most 45 kB of script for any screen, and one part of it that comes later, and 10 kB of styles [10.page-size]', () => {
    const frame = withImports(entry)
    const screens = [...frame].flatMap(lateOf)
    expect(screens.length).toBeGreaterThan(8)
    const sizes = screens.flatMap((screen) => {
      const shown = withImports(screen, new Set(frame))
      return [
        [screen, sizeOf(shown)] as const,
        ...[...withImports(screen)]
          .flatMap(lateOf)
          .filter((part) => !screens.includes(part))
          .map(
            (part) => [`${screen} + ${part}`, sizeOf(withImports(part, new Set(shown)))] as const,
          ),
      ]
    })
    expect(sizes.filter(([, size]) => size > 45 * 1024)).toEqual([])
    expect(sizeOf(names.filter((name) => name.endsWith('.css')))).toBeLessThan(10 * 1024)
  })

  test('asks for nothing from elsewhere [10.page-size]', () => {
    expect(page).not.toMatch(/(src|href)="(?!\/assets\/)/)
    for (const [name, text] of texts)
      expect([
        name,
        [...text.matchAll(/https?:\/\/[\w.-]+/g)]
          .map(([address]) => address)
          .filter((address) => !address.startsWith('http://www.w3.org')),
      ]).toEqual([name, []])
  })
})
