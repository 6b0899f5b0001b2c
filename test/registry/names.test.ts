import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { exportName, providerNames, validName, validNames } from '../../src/registry/names.ts'
import type { NamedEntry } from '../../src/registry/names.ts'

const PROVIDERS = [/^[a-zA-Z0-9_-]{1,64}$/, /^[a-zA-Z0-9_-]{1,128}$/, /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/]

describe('names that every surface can carry', () => {
  test.each([
    ['find_files', 'find_files'], ['getUser', 'get_user'], ['HTTPServer', 'http_server'], ['GetHTTPResponse', 'get_http_response'], ['files/read', 'files_read'], ['a.b.c', 'a_b_c'],
    ['  spaced out  ', 'spaced_out'], ['Gr\u00f6\u00dfe', 'grosse'], ['\u00c5ngstr\u00f6m', 'angstrom'], ['__init__', '__init__'], ['--', '--'], ['7zip', '7zip'],
  ])('%j becomes %j', (foreign, valid) => expect(validName(foreign)).toBe(valid))

  test('[6.names-valid] foreign writing, 70 characters, emoji and nothing at all get a name that stays apart from the others', () => {
    const foreign = ['\u5929\u6c17', '\u5929\u6c14', '\u{1f600}', '\u{1f601}', '', ' ', '...', 'x'.repeat(70), `${'x'.repeat(69)}y`, '\u0441\u043a\u0430\u0447\u0430\u0442\u044c', '\ud800', '\u0000', 'caf\u00e9 \u5929']
    const names = foreign.map(validName)
    for (const name of names) expect(name).toMatch(/^[a-z0-9_-]{1,64}$/)
    expect(new Set(names).size).toBe(foreign.length)
  })

  test('any text gives a valid name, the same one each time, and a valid name stays as it is', () => {
    fc.assert(fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 100 }), fc.string({ maxLength: 200 })), (text) => {
      const name = validName(text)
      expect(name).toMatch(/^[a-z0-9_-]{1,64}$/)
      expect(validName(text)).toBe(name)
      expect(validName(name)).toBe(name)
    }))
  })

  test('a megabyte of name is no work', () => {
    expect(validName('aB-'.repeat(400_000))).toMatch(/^[a-z0-9_-]{64}$/)
  })

  test('names of one source that fall together are kept apart, and the valid one keeps its own', () => {
    const names = validNames(['a.b', 'a_b', 'a b', 'c.d'])
    expect(names.get('a_b')).toBe('a_b')
    expect(names.get('c.d')).toBe('c_d')
    expect(new Set(names.values()).size).toBe(4)
    expect(validNames(['a b', 'c.d', 'a.b', 'a_b'])).toEqual(names)
  })
})

const entry = (source: string, name: string, shadowed = false): NamedEntry => ({ id: `${source}.${name}`, source, name, shadowed })

describe('exported names', () => {
  test('the owner of a bare name is exported by it, a shadowed tool with its source', () => {
    expect(exportName(entry('web', 'search'))).toBe('search')
    expect(exportName(entry('files', 'search', true))).toBe('files__search')
    expect(exportName(entry('files', '7zip'))).toBe('_7zip')
    expect(exportName(entry('3d', 'draw', true))).toBe('_3d__draw')
  })

  test('what cannot be told apart by its parts gets a hash: other sources, long names', () => {
    for (const [source, name] of [['My Files', 'search'], ['a__b', 'c'], ['a_', 'b'], ['a', '_b'], ['a', 'x'.repeat(64)]] as const) expect(exportName(entry(source, name, true))).toMatch(/_[a-z0-9]{8}$/)
    expect(exportName(entry('a', 'b__c', true))).not.toBe(exportName(entry('a__b', 'c', true)))
  })

  test('a name that somebody owns goes to its owner', () => {
    const names = [...providerNames([entry('files', 'find', true), entry('odd', 'files__find'), entry('n', '1a'), entry('m', '_1a')])]
    expect(names.map(([name, { id }]) => [name, id])).toEqual([
      [expect.stringMatching(/^files__find_[a-z0-9]{8}$/), 'files.find'], ['files__find', 'odd.files__find'], [expect.stringMatching(/^_1a_[a-z0-9]{8}$/), 'n.1a'], ['_1a', 'm._1a'],
    ])
  })

  const word = fc.oneof(fc.constantFrom('a', 'b', 'a_b', 'a-b', 'a__b', '_a', '1', '_1', 'x'.repeat(60), 'x'.repeat(64)), fc.stringMatching(/^[a-z0-9_-]{1,64}$/))
  const source = fc.oneof(word, fc.string({ maxLength: 80 }))
  const entries = fc.uniqueArray(fc.record({ source, name: word }), { selector: ({ source: from, name }) => `${from}\n${name}`, maxLength: 12 }).map((all) => {
    const seen = new Set<string>()
    return all.map(({ source: from, name }) => {
      const shadowed = seen.has(name)
      seen.add(name)
      return entry(from, name, shadowed)
    })
  })

  test('[6.names-providers] are valid for every provider, unique, reversible, and independent of the order', () => {
    fc.assert(fc.property(entries, (all) => {
      const names = providerNames(all)
      expect(names.size).toBe(all.length)
      for (const name of names.keys()) for (const rule of PROVIDERS) expect(name).toMatch(rule)
      expect(new Map([...providerNames(all.toReversed())].map(([name, { id }]) => [name, id]))).toEqual(new Map([...names].map(([name, { id }]) => [name, id])))
    }))
  })

  test('[6.names-stable] adding a tool renames no other, unless it owns just that name', () => {
    fc.assert(fc.property(entries, word, (all, name) => {
      const added = entry('added', name, all.some((other) => other.name === name))
      const before = new Map([...providerNames(all)].map(([exported, { id }]) => [id, exported]))
      const after = new Map([...providerNames([...all, added])].map(([exported, { id }]) => [id, exported]))
      for (const [id, exported] of before) if (exported !== added.name) expect(after.get(id)).toBe(exported)
    }))
  })
})
