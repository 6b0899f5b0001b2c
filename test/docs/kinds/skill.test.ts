import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { ToolsetManifest } from '../../../src/protocol/manifest.ts'
import { writeSkill } from '../../../src/docs/kinds/skill.ts'
import { describeWhenToUse } from '../../../src/docs/fit-text.ts'
import { buildDocModel } from '../../../src/docs/model.ts'
import { toSkillName } from '../../../src/docs/markdown.ts'
import { command, fileTools, oneTool } from '../../cli/help/fixtures.ts'
import { hostileProgram, largeProgram } from './hostile.ts'
import { readMarkdown, splitHead } from './markdown-tree.ts'
import { rounds } from '../../support/rounds.ts'

// What Claude Code acts upon in a skill, wherever it stands.
const LIVE = /!`|\$(?:ARGUMENTS|\d|\{)/

/** Everything that must hold for the skill of any program. */
function checkSkill(manifest: ToolsetManifest): void {
  const model = buildDocModel(manifest)
  const files = writeSkill(model)
  expect(writeSkill(buildDocModel(manifest))).toEqual(files)
  const [main, ...references] = files
  const { head, body } = splitHead(main!.text)
  const fields = parse(head) as { name: string; description: string; metadata: { version: string } }
  expect(fields.name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/)
  expect(fields.name.length).toBeLessThanOrEqual(64)
  expect(main!.path).toBe(`${fields.name}/SKILL.md`)
  expect(fields).toEqual({
    name: toSkillName(manifest.name),
    description: describeWhenToUse(model, 300),
    metadata: { version: model.version },
  })
  expect(parse(head, { version: '1.1' })).toEqual(fields)
  expect(fields.description.length).toBeGreaterThan(0)
  expect(fields.description.length).toBeLessThanOrEqual(300)
  expect(fields.description).not.toMatch(/[<>\n]/)
  expect(fields.description).toContain('Use when asked to')
  expect(Buffer.byteLength(body)).toBeLessThanOrEqual(8000)

  const named = new Set(references.map(({ path }) => path.slice(fields.name.length + 1)))
  expect(named.size).toBe(references.length)
  const reached = new Set<string>()
  for (const { text, path } of files.slice(0, 12)) {
    const page = path === main!.path ? body : text
    expect(page).not.toMatch(LIVE)
    const found = readMarkdown(page)
    expect(found.html.map((html) => html.trim())).toEqual([
      expect.stringMatching(
        /^<!-- toolable:[a-z0-9_-]+ docs skill: generated, edits are lost; .* -->$/,
      ),
    ])
    expect(found.images).toBe(0)
    expect(found.rules).toBe(0)
    for (const block of found.blocks) expect(['bash', 'json']).toContain(block.info)
    for (const link of found.links) {
      const target = path === main!.path ? link : `references/${link}`
      expect(named).toContain(target)
      reached.add(target)
    }
  }
  if (files.length <= 12) expect(reached).toEqual(named)
  expect(references.every(({ path }) => /^[a-z0-9/-]+\.md$/.test(path))).toBe(true)
}

describe('a skill keeps to the standard whatever the program says [5.docs]', () => {
  test('any few tools', () => {
    fc.assert(fc.property(hostileProgram(0, 4), checkSkill), { numRuns: rounds(150) })
  })

  test('any number of tools', () => {
    fc.assert(fc.property(hostileProgram(15, 30), checkSkill), { numRuns: rounds(15) })
  })

  test.each([1, 20, 21, 200])('%i tools with long names and texts', (count) => {
    checkSkill(largeProgram(count))
    checkSkill(largeProgram(count, { tags: count }))
    checkSkill(largeProgram(count, { text: 'word '.repeat(30) }))
    checkSkill(largeProgram(count, { text: '`*_<>|!'.repeat(20) }))
  })
})

describe('how much a skill says', () => {
  const files = (count: number, description = 'short'): readonly { path: string; text: string }[] =>
    writeSkill(
      buildDocModel({
        ...fileTools,
        tools: Array.from({ length: count }, (_each, index) =>
          command({ name: `tool_${index}`, tags: [`group ${index % 3}`], description }),
        ),
        resources: [],
        prompts: [],
      }),
    )

  test('a small program is one file with everything in it', () => {
    const [main, ...references] = writeSkill(buildDocModel(oneTool))
    expect(references).toEqual([])
    expect(readMarkdown(splitHead(main!.text).body).headings).toEqual([
      'find-files',
      'Quick reference',
      'Commands',
      'find-files',
      'Examples',
      'Errors',
      'Errors',
      'Exit codes',
    ])
    expect(main!.text).toContain(
      '- `-r`, `--root <path>` or `root: path` (default `"."`, env `FIND_ROOT`): Where to begin\n',
    )
    expect(main!.text).toContain(
      '- `--kind <choice>` or `kind: "file" | "directory" | "symlink" | "socket"`: Kind of entry\n',
    )
    expect(main!.text).toContain(
      '# All sources\nfind-files \'*.ts\' --sort name\nfind-files \'{"pattern":"*.ts","sort":"name"}\'\n',
    )
    expect(main!.text).toContain(
      '- `E4101` (exit 75): Disk busy. Retry with backoff, three times at most.',
    )
  })

  test('what does not fit goes to a file for each tool', () => {
    const [main, ...references] = files(12, 'Long. '.repeat(200))
    expect(references.map(({ path }) => path)).toEqual(
      Array.from({ length: 12 }, (_each, index) => `file-tools/references/tool-${index}.md`),
    )
    expect(main!.text).toContain('Details: [tool-3.md](references/tool-3.md).')
    expect(references[3]!.text).toContain('Long. Long.')
    expect(main!.text).not.toContain('Long. Long.')
  })

  test('twenty tools are told of one by one, twenty-one are a summary by tag', () => {
    expect(files(20)[0]!.text).toContain('#### `file-tools tool_19`')
    const [main, ...references] = files(21)
    expect(readMarkdown(splitHead(main!.text).body).headings).toEqual([
      'file-tools',
      'Quick reference',
      'Commands',
      'group 0',
      'group 1',
      'group 2',
      'Errors',
      'Exit codes',
    ])
    expect(main!.text).toContain('- `file-tools tool_20`: Does tool_20\n')
    expect(references.map(({ path }) => path)).toEqual(
      ['group-0', 'group-1', 'group-2'].map((name) => `file-tools/references/${name}.md`),
    )
  })

  test('the rules name what is destructive', () => {
    expect(writeSkill(buildDocModel(fileTools))[0]!.text).toContain(
      '- Destructive: `file-tools pr merge`. First call with `--dry-run` and show the user what would be done. Add `--yes` only when the user has agreed',
    )
  })

  test('an answer that the author gives stands below its example', () => {
    const tool = command({
      name: 'add',
      inputSchema: { type: 'object', properties: { a: { type: 'integer' } } },
      examples: [{ input: { a: 1 }, output: { sum: 2 } }, { args: ['--a', '2', '--dry-run'] }],
    })
    const text = writeSkill(buildDocModel({ ...oneTool, tools: [tool] }))[0]!.text
    expect(text).toContain(
      '```bash\nfind-files --a 1\nfind-files \'{"a":1}\'\n```\n\nThe `result` of the answer:\n\n```json\n{"sum":2}\n```\n',
    )
    expect(text).toContain('```bash\nfind-files --a 2 --dry-run\n```\n')
  })
})

describe('when to use it', () => {
  const sentence = (manifest: Partial<ToolsetManifest>, longest = 300): string =>
    describeWhenToUse(buildDocModel({ ...fileTools, ...manifest }), longest)

  test('says what and when, with the topics where there is room', () => {
    expect(sentence({})).toBe(
      'Find and change files. Use when asked to find files matching a glob; list pull requests; or merge a pull request.',
    )
    expect(
      sentence({ tools: [command({ name: 'a', summary: 'HTTP request', tags: ['net', 'web'] })] }),
    ).toBe('Find and change files. Use when asked to HTTP request. Topics: net, web.')
  })

  test('cuts between words and never within a character', () => {
    const long = sentence({ description: 'Something very long to say about it '.repeat(20) })
    expect(long).toMatch(/^(Something very long to say about it ?)+… Use when asked to find/)
    expect(sentence({ description: `${'ab '.repeat(50)}somewhat` })).toMatch(/^(ab ?)+… Use/)
    expect(sentence({ description: '😀'.repeat(300) })).not.toMatch(/\p{Surrogate}/u)
    expect(sentence({ description: '👩‍👩‍👧'.repeat(300) })).toMatch(/^(👩‍👩‍👧)+… Use when/u)
  })

  test('has no angle brackets, which readers of skills refuse', () => {
    expect(sentence({ description: 'Maps <a> -> b where a >= 1' })).toMatch(
      /^Maps ‹a› → b where a ≥ 1\. Use when/,
    )
  })
})
