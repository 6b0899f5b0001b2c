import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { ToolsetManifest } from '../../../src/protocol/manifest.ts'
import { writeSlashCommands } from '../../../src/docs/kinds/slash-command.ts'
import { writeLlms } from '../../../src/docs/kinds/llms.ts'
import { writeReference } from '../../../src/docs/kinds/reference.ts'
import { writeOpenApi } from '../../../src/docs/kinds/openapi.ts'
import { writeSubagent } from '../../../src/docs/kinds/subagent.ts'
import { buildDocModel, isMarked } from '../../../src/docs/model.ts'
import { toSkillName } from '../../../src/docs/markdown.ts'
import { command, fileTools, oneTool } from '../../cli/help/fixtures.ts'
import { hostileProgram, largeProgram } from './hostile.ts'
import { readMarkdown, splitHead } from './markdown-tree.ts'
import { rounds } from '../../support/rounds.ts'

const LIVE = /!`|\$(?:ARGUMENTS|\d|\{)/g
const runs = (check: (manifest: ToolsetManifest) => void, numRuns = 100): void =>
  fc.assert(fc.property(hostileProgram(0, 3), check), { numRuns: rounds(numRuns) })

describe('commands of Claude Code [5.docs]', () => {
  test('one for each tool, with one placeholder that is ours', () => {
    runs((manifest) => {
      const files = writeSlashCommands(buildDocModel(manifest))
      expect(files.map(({ path }) => path)).toEqual(
        manifest.tools.map(({ name }) => `.claude/commands/${name}.md`),
      )
      for (const [index, { text }] of files.entries()) {
        const { head, body } = splitHead(text)
        const tool = manifest.tools[index]!
        const destructive = tool.annotations.destructive === true
        const fields = parse(head) as Record<string, unknown>
        const only = manifest.tools.length === 1
        expect(fields['allowed-tools']).toBe(
          destructive
            ? undefined
            : `Bash(${only ? manifest.name : `${manifest.name} ${tool.path.join(' ')}`}:*)`,
        )
        expect(fields['disable-model-invocation']).toBe(destructive ? true : undefined)
        expect(body.match(LIVE)).toEqual(['$ARGUMENTS'])
        expect(head).not.toMatch(/!`|\$(?:ARGUMENTS|\d|\{)/)
        expect(readMarkdown(body).html).toHaveLength(1)
        expect(isMarked(text, manifest.name, 'command')).toBe(true)
      }
    })
  })

  test('what it tells the agent', () => {
    const [first] = writeSlashCommands(buildDocModel(fileTools))
    const { head, body } = splitHead(first!.text)
    expect(parse(head)).toEqual({
      description: 'Find files matching a glob',
      'argument-hint': '<pattern> --sort <name|size> [options]',
      'allowed-tools': 'Bash(file-tools find_files:*)',
    })
    expect(readMarkdown(body).headings).toEqual(['Examples', 'Errors', 'When it fails'])
    expect(body).toContain('What the user wrote: $ARGUMENTS\n')
  })

  test('a file is the same whether all were asked for or one', () => {
    const all = writeSlashCommands(buildDocModel(fileTools))
    expect(all).toEqual(
      fileTools.tools.flatMap(({ name }) => writeSlashCommands(buildDocModel(fileTools, [name]))),
    )
  })
})

describe('an agent of Claude Code [5.docs]', () => {
  test('its head and what is in it', () => {
    const [file] = writeSubagent(buildDocModel(fileTools))
    const { head, body } = splitHead(file!.text)
    expect(file!.path).toBe('.claude/agents/file-tools.md')
    expect(parse(head)).toEqual({
      name: 'file-tools',
      description:
        'Find and change files. Use when asked to find files matching a glob; list pull requests; or merge a pull request.',
      tools: 'Bash, Read',
    })
    expect(readMarkdown(body).headings.slice(0, 3)).toEqual(['Calling', 'Rules', 'Commands'])
  })

  test('whatever the program', () => {
    const check = (manifest: ToolsetManifest): void => {
      const [file] = writeSubagent(buildDocModel(manifest))
      const { head, body } = splitHead(file!.text)
      expect(parse(head)).toMatchObject({ name: toSkillName(manifest.name), tools: 'Bash, Read' })
      expect(Buffer.byteLength(file!.text)).toBeLessThanOrEqual(9000)
      expect(body).not.toMatch(LIVE)
      expect(readMarkdown(body).html).toHaveLength(1)
    }
    runs(check)
    for (const count of [20, 200]) check(largeProgram(count, { tags: count }))
  })
})

describe('llms.txt [5.docs]', () => {
  test('has the form of llmstxt.org, and its links lead to headings', () => {
    const [short, full] = writeLlms(buildDocModel(fileTools))
    expect([short!.path, full!.path]).toEqual(['llms.txt', 'llms-full.txt'])
    expect(short!.text.split('\n').slice(0, 3)).toEqual([
      '# file-tools',
      '',
      '> Find and change files',
    ])
    expect(readMarkdown(short!.text).headings).toEqual(['file-tools', 'Commands', 'pr', 'Optional'])
    const anchors = readMarkdown(full!.text).headings.map((heading) =>
      heading.toLowerCase().replaceAll(' ', '-'),
    )
    for (const link of readMarkdown(short!.text).links)
      expect(anchors).toContain(link.replace('llms-full.txt#', ''))
  })

  test('whatever the program', () => {
    runs((manifest) => {
      const [short, full] = writeLlms(buildDocModel(manifest))
      const found = readMarkdown(short!.text)
      expect(found.headings[0]).toBe(manifest.name)
      expect(found.links).toHaveLength(manifest.tools.length + 2)
      expect(found.html).toHaveLength(1)
      expect(readMarkdown(full!.text).html).toHaveLength(1)
      expect([short, full].every((file) => isMarked(file!.text, manifest.name, 'llms'))).toBe(true)
    })
  })
})

describe('a page of reference [5.docs]', () => {
  test('its headings', () => {
    const [page] = writeReference(buildDocModel(fileTools))
    expect(page!.path).toBe('docs/file-tools.md')
    expect(readMarkdown(page!.text).headings).toEqual([
      'file-tools',
      'Quick reference',
      'Rules',
      'Commands',
      'file-tools find_files',
      'Examples',
      'Errors',
      'pr',
      'file-tools pr list',
      'file-tools pr merge',
      'Resources',
      'Prompts',
      'Options of every command',
      'Options of the program',
      'Errors',
      'Exit codes',
    ])
  })

  test('whatever the program', () => {
    runs((manifest) => {
      const [page] = writeReference(buildDocModel(manifest))
      const found = readMarkdown(page!.text)
      expect(found.html).toHaveLength(1)
      expect(found.links).toEqual([])
      expect(page!.text).not.toMatch(LIVE)
    })
  })
})

describe('OpenAPI [5.docs]', () => {
  test('is JSON with our mark', () => {
    const [file] = writeOpenApi(oneTool, buildDocModel(oneTool))
    expect(JSON.parse(file!.text)).toMatchObject({
      openapi: '3.1.1',
      info: { title: 'find-files' },
      paths: { '/tools/find_files': {} },
    })
    expect(isMarked(file!.text, 'find-files', 'openapi')).toBe(true)
    expect(isMarked(file!.text, 'find', 'openapi')).toBe(false)
  })
})

describe('what is read of a program', () => {
  const parameter = (schema: object) =>
    buildDocModel({
      ...oneTool,
      tools: [command({ name: 'a', inputSchema: { type: 'object', properties: { x: schema } } })],
    }).tools[0]!.parameters[0]!

  test.each([
    [{ type: 'string' }, 'string', undefined],
    [{ type: 'string', format: 'path' }, 'path', undefined],
    [{ type: 'integer', minimum: 1, maximum: 9 }, 'integer', '1 to 9'],
    [
      { type: 'number', exclusiveMinimum: 0, multipleOf: 2 },
      'number',
      'more than 0, a multiple of 2',
    ],
    [
      { type: 'string', minLength: 3, maxLength: 3, pattern: '^a' },
      'string',
      'exactly 3 characters, pattern ^a',
    ],
    [{ type: 'string', format: 'date-time' }, 'string', 'format date-time'],
    [{ type: ['string', 'null'], maxLength: 5 }, 'string | null', 'at most 5 characters'],
    [{ enum: ['a', 1, null] }, '"a" | 1 | null', undefined],
    [{ const: true }, 'true', undefined],
    [
      { type: 'array', items: { enum: ['a', 'b'] }, minItems: 2 },
      '("a" | "b")[]',
      'at least 2 items',
    ],
    [
      {
        type: 'array',
        items: {
          type: 'object',
          properties: { a: { type: 'string' }, 'b-c': { type: 'integer' } },
          required: ['a'],
        },
      },
      '{ a: string, "b-c"?: integer }[]',
      undefined,
    ],
    [
      { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }] },
      '[string, integer]',
      undefined,
    ],
    [{ type: 'array' }, 'any[]', undefined],
    [{ type: 'object', additionalProperties: { type: 'string' } }, '{ [key]: string }', undefined],
    [{ type: 'object' }, 'object', undefined],
    [
      { anyOf: [{ type: 'string' }, { type: 'object', properties: { a: {} } }] },
      'string | { a?: any }',
      undefined,
    ],
    [{ properties: { a: { type: 'string' } } }, '{ a?: string }', undefined],
    [{ items: { type: 'string' } }, 'string[]', undefined],
    [{}, 'any', undefined],
    [
      {
        type: 'object',
        properties: Object.fromEntries(
          Array.from({ length: 5000 }, (_each, index) => [`field${index}`, {}]),
        ),
      },
      'object',
      undefined,
    ],
    [{ enum: Array.from({ length: 500 }, (_each, index) => `choice ${index}`) }, 'any', undefined],
  ])('%j is %s', (schema, type, limits) => {
    expect(parameter(schema)).toMatchObject({ type, ...(limits === undefined ? {} : { limits }) })
    if (limits === undefined) expect(parameter(schema)).not.toHaveProperty('limits')
  })

  test('an object whose inside does not fit in a line loses its depth first', () => {
    const inner = {
      type: 'object',
      properties: Object.fromEntries(
        ['one', 'two', 'three', 'four', 'five'].map((name) => [
          `${name}_with_a_long_name`,
          { type: 'string' },
        ]),
      ),
    }
    expect(
      parameter({ type: 'object', properties: { inner, other: inner }, required: ['inner'] }).type,
    ).toBe('{ inner: object, other?: object }')
  })

  test('a tool that it does not have is named with the one that was meant', () => {
    expect(() => buildDocModel(fileTools, ['find-file'])).toThrow(
      "there is no tool 'find-file'; did you mean 'find_files'?",
    )
    expect(
      buildDocModel(fileTools, ['pr-merge', 'find-files']).tools.map(({ name }) => name),
    ).toEqual(['find_files', 'pr_merge'])
  })

  test('names of skills and files', () => {
    expect(['file_tools', '-a--b_', '___', 'x'].map(toSkillName)).toEqual([
      'file-tools',
      'a-b',
      'tools',
      'x',
    ])
    const groups = buildDocModel({
      ...fileTools,
      tools: ['Änderung', 'con', 'index', '中文', '中国', 'a/b', 'a.b'].map((tag, index) =>
        command({ name: `t${index}`, tags: [tag] }),
      ),
    }).groups
    expect(groups.map(({ slug }) => slug)).toEqual([
      'anderung',
      'con-commands',
      'index-2',
      'other',
      'other-2',
      'a-b',
      'a-b-2',
    ])
  })
})
