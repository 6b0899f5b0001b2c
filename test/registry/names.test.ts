import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  assignEntryNames,
  toExportName,
  indexByExportName,
  toValidName,
  toValidNames,
} from '../../src/registry/names.ts'
import type { NamedEntry } from '../../src/registry/names.ts'

const PROVIDERS = [
  /^[a-zA-Z0-9_-]{1,64}$/,
  /^[a-zA-Z0-9_-]{1,128}$/,
  /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/,
]

describe('names that every surface can carry', () => {
  test.each([
    ['find_files', 'find_files'],
    ['getUser', 'get_user'],
    ['HTTPServer', 'http_server'],
    ['GetHTTPResponse', 'get_http_response'],
    ['files/read', 'files_read'],
    ['a.b.c', 'a_b_c'],
    ['  spaced out  ', 'spaced_out'],
    ['Gr\u00f6\u00dfe', 'grosse'],
    ['\u00c5ngstr\u00f6m', 'angstrom'],
    ['__init__', '__init__'],
    ['--', '--'],
    ['7zip', '7zip'],
  ])('%j becomes %j', (foreign, valid) => expect(toValidName(foreign)).toBe(valid))

  test('[6.names-valid] foreign writing, 70 characters, emoji and nothing at all get a name that stays apart from the others', () => {
    const foreign = [
      '\u5929\u6c17',
      '\u5929\u6c14',
      '\u{1f600}',
      '\u{1f601}',
      '',
      ' ',
      '...',
      'x'.repeat(70),
      `${'x'.repeat(69)}y`,
      '\u0441\u043a\u0430\u0447\u0430\u0442\u044c',
      '\ud800',
      '\u0000',
      'caf\u00e9 \u5929',
    ]
    const names = foreign.map(toValidName)
    for (const name of names) expect(name).toMatch(/^[a-z0-9_-]{1,64}$/)
    expect(new Set(names).size).toBe(foreign.length)
  })

  test('any text gives a valid name, the same one each time, and a valid name stays as it is', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc
            .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 90 })
            .map((units) => String.fromCharCode(...units)),
          fc.string({ maxLength: 200 }),
        ),
        (text) => {
          const name = toValidName(text)
          expect(name).toMatch(/^[a-z0-9_-]{1,64}$/)
          expect(toValidName(text)).toBe(name)
          expect(toValidName(name)).toBe(name)
        },
      ),
    )
  })

  test('a megabyte of name is no work', () => {
    expect(toValidName('aB-'.repeat(400_000))).toMatch(/^[a-z0-9_-]{64}$/)
  })

  test('names of one source that fall together are kept apart, and the valid one keeps its own', () => {
    const names = toValidNames(['a.b', 'a_b', 'a b', 'c.d'])
    expect(names.get('a_b')).toBe('a_b')
    expect(names.get('c.d')).toBe('c_d')
    expect(new Set(names.values()).size).toBe(4)
    expect(toValidNames(['a b', 'c.d', 'a.b', 'a_b'])).toEqual(names)
  })
})

const entry = (source: string, bare: string, shadowed = false): NamedEntry => ({
  id: `${source}.${bare}`,
  source,
  bare,
  shadowed,
})
const idsByName = (entries: readonly NamedEntry[]) =>
  Object.fromEntries([...assignEntryNames(entries)].map(([name, { id }]) => [name, id]))

describe('names of entries', () => {
  test('the owner has the bare name, a shadowed tool its source in front', () => {
    expect(idsByName([entry('web', 'search'), entry('files', 'search', true)])).toEqual({
      search: 'web.search',
      files__search: 'files.search',
    })
  })

  test('what cannot be told apart by its parts gets a hash: other sources, long names', () => {
    for (const [source, bare] of [
      ['My Files', 'search'],
      ['a__b', 'c'],
      ['a_', 'b'],
      ['a', '_b'],
      ['a', 'x'.repeat(64)],
    ] as const)
      expect(Object.keys(idsByName([entry(source, bare, true)]))[0]).toMatch(/_[a-z0-9]{8}$/)
  })

  test('a name that somebody owns goes to its owner', () => {
    expect(
      [...assignEntryNames([entry('files', 'find', true), entry('odd', 'files__find')])].map(
        ([name, { id }]) => [name, id],
      ),
    ).toEqual([
      [expect.stringMatching(/^files__find_[a-z0-9]{8}$/), 'files.find'],
      ['files__find', 'odd.files__find'],
    ])
  })

  const word = fc.oneof(
    fc.constantFrom(
      'a',
      'b',
      'a_b',
      'a-b',
      'a__b',
      '_a',
      '1',
      '_1',
      '-',
      'x'.repeat(60),
      'x'.repeat(64),
      '1'.repeat(64),
    ),
    fc.stringMatching(/^[a-z0-9_-]{1,64}$/),
  )
  const source = fc.oneof(word, fc.string({ maxLength: 80 }))
  const entries = fc
    .uniqueArray(fc.record({ source, bare: word }), {
      selector: ({ source: from, bare }) => `${from}\n${bare}`,
      maxLength: 12,
    })
    .map((all) => {
      const seen = new Set<string>()
      return all.map(({ source: from, bare }) => {
        const shadowed = seen.has(bare.replaceAll('-', '_'))
        seen.add(bare.replaceAll('-', '_'))
        return entry(from, bare, shadowed)
      })
    })

  test('[6.names-providers] are valid for every provider, unique, reversible, and independent of the order', () => {
    fc.assert(
      fc.property(entries, (all) => {
        const names = assignEntryNames(all)
        expect(new Set([...names.keys()].map((name) => name.replaceAll('-', '_'))).size).toBe(
          all.length,
        )
        for (const name of names.keys()) expect(name).toMatch(/^[a-z0-9_-]{1,64}$/)
        expect(idsByName(all.toReversed())).toEqual(idsByName(all))
        const exported = indexByExportName([...names].map(([name, { id }]) => ({ name, id })))
        expect(new Set([...exported.values()].map(({ id }) => id)).size).toBe(all.length)
        for (const name of exported.keys()) for (const rule of PROVIDERS) expect(name).toMatch(rule)
      }),
    )
  })

  test('[6.names-stable] adding a tool renames no other, unless it owns just that name', () => {
    const same = (left: string, right: string) =>
      left.replaceAll('-', '_') === right.replaceAll('-', '_')
    fc.assert(
      fc.property(entries, word, (all, bare) => {
        const added = entry(
          'added',
          bare,
          all.some((other) => same(other.bare, bare)),
        )
        const before = new Map([...assignEntryNames(all)].map(([name, { id }]) => [id, name]))
        const after = new Map(
          [...assignEntryNames([...all, added])].map(([name, { id }]) => [id, name]),
        )
        for (const [id, name] of before)
          if (!same(name, added.bare)) expect(after.get(id)).toBe(name)
      }),
    )
  })

  test('a model sees a leading digit behind an underscore, and what looks like that already makes room', () => {
    expect(toExportName('find_files')).toBe('find_files')
    expect(toExportName('__init')).toBe('__init')
    expect(toExportName('7zip')).toBe('_7zip')
    expect(toExportName('_7zip')).toMatch(/^_7zip_[a-z0-9]{8}$/)
    expect(toExportName('7'.repeat(64))).toHaveLength(64)
  })
})
