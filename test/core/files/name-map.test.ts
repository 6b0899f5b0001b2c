import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PersistentMap } from '../../../src/util/persistent-map.ts'
import { memoryFiles } from '../../../src/core/files/files.ts'
import { rounds } from '../../support/rounds.ts'

const anyName = fc.oneof(
  fc.integer({ min: 0, max: 300 }).map((number) => `name-${number}`),
  fc.string({ maxLength: 3 }),
)

describe('a map of names', () => {
  test('is what a map says, however many names it has, and what was before stays as it was [8.files-memory]', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(anyName, fc.boolean()), { minLength: 50, maxLength: 400 }),
        (changes) => {
          const plain = new Map<string, number>()
          let map = PersistentMap.empty<number>()
          const earlier: [PersistentMap<number>, Map<string, number>][] = []
          for (const [index, [name, isAdded]] of changes.entries()) {
            if (isAdded) plain.set(name, index)
            else plain.delete(name)
            map = isAdded ? map.with(name, index) : map.without(name)
            if (index % 60 === 0) earlier.push([map, new Map(plain)])
          }
          for (const [found, wanted] of [...earlier, [map, plain] as const]) {
            expect(found.size).toBe(wanted.size)
            expect(found.entries()).toEqual(
              [...wanted].sort(([left], [right]) => (left < right ? -1 : 1)),
            )
            for (const [name, value] of wanted)
              expect([found.get(name), found.has(name)]).toEqual([value, true])
            expect([found.get('absent'), found.has('absent')]).toEqual([undefined, false])
          }
        },
      ),
      { numRuns: rounds(40) },
    )
  })

  test('thousands of names are all found, and gone when they are taken out [8.files-memory]', () => {
    const names = Array.from({ length: 2_000 }, (_, index) => String(index))
    const map = names.reduce(
      (all, name, index) => all.with(name, index),
      PersistentMap.empty<number>(),
    )
    expect(map.size).toBe(2_000)
    expect(names.every((name, index) => map.get(name) === index)).toBe(true)
    expect(names.reduce((all, name) => all.without(name), map).size).toBe(0)
  })
})

test('JSON of files in memory is read with care [8.files-memory]', async () => {
  const open = (json: unknown): Promise<unknown> =>
    memoryFiles(json as object)
      .begin({ readOnly: true })
      .view.list()
  for (const [json, message] of [
    [[], 'as an object'],
    [{ version: 2 }, 'version 2'],
    [{ files: [] }, 'files in memory are'],
    [{ folders: {} }, 'files in memory are'],
    [{ files: { a: 7 } }, "the content of 'a'"],
    [{ files: { '../a': '' } }, "'..' is refused"],
    [{ files: { a: '', 'a/b': '' } }, 'is a file'],
    [{ files: { '.': '' } }, 'is a folder'],
    [{ files: { a: '' }, folders: ['a'] }, 'is a file'],
    [{ files: { 'a/b': '', './a//b': '' } }, 'twice'],
    [{ folders: [7] }, 'a path is a text'],
  ] as const)
    await expect(open(json)).rejects.toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining(message),
    })
  const files = memoryFiles({
    files: { text: 'a', bytes: new Uint8Array([255, 0]) },
    folders: ['x/y'],
  })
  expect(JSON.parse(JSON.stringify(files))).toEqual({
    version: 1,
    files: { text: 'a', bytes: { base64: '/wA=' } },
    folders: ['x/y'],
  })
  const { view } = memoryFiles(JSON.parse(JSON.stringify(files)) as object).begin({
    readOnly: true,
  })
  expect([...(await view.readBytes('bytes'))]).toEqual([255, 0])
  expect(await view.stat('x/y')).toEqual({ path: 'x/y', kind: 'folder', size: 0 })
})
