import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dropEntry, putEntry, readEntries } from '../../../src/install/config-file.ts'
import type { ConfigSlot } from '../../../src/install/config-file.ts'
import { jsonc } from '../../../src/install/formats/jsonc.ts'
import { toml } from '../../../src/install/formats/toml.ts'
import { jsoncTexts, tomlTexts } from './arbitrary-texts.ts'
import { rounds } from '../../support/rounds.ts'

const entry = {
  command: 'node',
  args: ['/a b/p.mjs', '--serve-mcp', 'stdio', 'é"\\\u007f\n'],
  env: { A: '1' },
}
const longer = { ...entry, args: ['x'], env: { A: '1', B: '2' } }
const json: ConfigSlot = { format: jsonc, container: 'mcpServers', name: 'ours' }
const table: ConfigSlot = { format: toml, container: 'mcp_servers', name: 'ours' }

function check(slot: ConfigSlot, text: string): void {
  const made = slot.format.missing(text, slot.container)
  const before = readEntries(text, slot)
  const added = putEntry(text, slot, entry)
  expect(readEntries(added, slot)).toEqual({ ...before, ours: entry })
  expect(dropEntry(added, slot, made)).toBe(text)
  const updated = putEntry(added, slot, longer)
  expect(readEntries(updated, slot)).toEqual({ ...before, ours: longer })
  expect(dropEntry(updated, slot, made)).toBe(text)
  const second = { ...slot, name: 'second' }
  const both = putEntry(added, second, longer)
  expect(
    dropEntry(dropEntry(both, second, slot.format.missing(added, slot.container)), slot, made),
  ).toBe(text)
  expect(readEntries(dropEntry(both, slot, {}), slot)).toEqual({ ...before, second: longer })
}

describe('an entry that is added and taken out again leaves every byte as it was', () => {
  test('in any JSON with comments [5.mcp-add]', () => {
    fc.assert(
      fc.property(jsoncTexts('mcpServers'), (text) => check(json, text)),
      { numRuns: rounds(400) },
    )
  })

  test('in any TOML with comments [5.mcp-add]', () => {
    fc.assert(
      fc.property(tomlTexts('mcp_servers'), (text) => check(table, text)),
      { numRuns: rounds(200) },
    )
  })

  test.each([
    '',
    '\n',
    '  ',
    '{}',
    '{ }',
    '{\n}\n',
    '{"mcpServers":{}}',
    '{\n  "mcpServers": {}\n}\n',
    '{"mcpServers":{"a":{}},}',
    '\r\n',
  ])('in the JSON %j', (text) => check(json, text))
  test.each([
    '',
    '\n',
    'a = 1',
    'a = 1\n',
    'a = 1\n\n',
    '# c',
    '[mcp_servers]\n',
    '[mcp_servers]',
    '[mcp_servers.a]\ncommand = "x"\n\n# tail\n',
    'mcp_servers.a.command = "x"\n',
    'a = 1\r\n',
  ])('in the TOML %j', (text) => check(table, text))
})

describe('a text that is not what it should be is told from one that is', () => {
  const problems = (slot: ConfigSlot, texts: readonly string[]): string[] =>
    texts.map((text) => {
      try {
        readEntries(text, slot)
        return 'fine'
      } catch (error) {
        return (error as Error).message
      }
    })

  test('in JSON', () => {
    expect(
      problems(json, [
        '{',
        '[]',
        '"x"',
        '{"mcpServers": []}',
        '{"mcpServers": null}',
        '{"mcpServers": "x"}',
        '{"mcpServers": {}, "mcpServers": {}}',
        '{"mcpServers": {"a": 1, "a": 2}}',
        '{"a": 1,, }',
        '{} {}',
        '{"a": \n 01}',
      ]),
    ).toMatchInlineSnapshot(`
        [
          "is not valid JSON: close brace expected at line 1, column 2",
          "does not hold a JSON object",
          "does not hold a JSON object",
          "holds no table of servers at 'mcpServers'",
          "holds no table of servers at 'mcpServers'",
          "holds no table of servers at 'mcpServers'",
          "has the key 'mcpServers' twice",
          "has the key 'a' twice",
          "is not valid JSON: property name expected at line 1, column 9",
          "is not valid JSON: end of file expected at line 1, column 4",
          "is not valid JSON: comma expected at line 2, column 3",
        ]
      `)
  })

  test('in TOML', () => {
    expect(
      problems(table, [
        'a = ',
        'mcp_servers = 1',
        '[[mcp_servers]]\na = 1',
        'a = 1\na = 2',
        '[a',
        'a = "\r"',
      ]),
    ).toMatchInlineSnapshot(`
      [
        "is not valid TOML: invalid value at line 1, column 5",
        "holds no table of servers at 'mcp_servers'",
        "holds no table of servers at 'mcp_servers'",
        "is not valid TOML: trying to redefine an already defined table or value at line 2, column 1",
        "is not valid TOML: incomplete key-value: cannot find end of key at line 1, column 2",
        "is not valid TOML: control characters are not allowed in strings at line 1, column 6",
      ]
    `)
  })

  test('a form that cannot be cut out is refused, not guessed at', () => {
    for (const text of ['mcp_servers = { }\n', 'mcp_servers = { other = { command = "x" } }\n'])
      expect(() => putEntry(text, table, entry)).toThrow('cannot be edited')
    for (const text of [
      '[mcp_servers]\nours = { command = "x" }\n',
      'mcp_servers.ours.command = "x"\n',
      '[mcp_servers.ours]\ncommand = "x"\n[z]\n[mcp_servers.ours.env]\nA = "1"\n',
    ]) {
      expect(() => putEntry(text, table, entry)).toThrow('cannot be edited')
      expect(() => dropEntry(text, table, {})).toThrow('cannot be edited')
    }
  })
})
