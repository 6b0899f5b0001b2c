import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeFolder } from '../support/run-program.ts'
import { docs, filesIn } from './support.ts'
import '../support/without-coverage.ts'

const SKILL = 'skills/documented/SKILL.md'
const state = (result: readonly { path: string; state: string }[]): { [path: string]: string } =>
  Object.fromEntries(result.map(({ path, state: each }) => [path, each]))

describe('docs --write [5.docs]', () => {
  test.each([
    [
      'skill',
      [
        'skills/documented/SKILL.md',
        'skills/documented/references/count.md',
        'skills/documented/references/find.md',
        'skills/documented/references/remove.md',
      ],
    ],
    ['agents', ['AGENTS.md']],
    ['claude', ['CLAUDE.md']],
    [
      'command',
      ['.claude/commands/count.md', '.claude/commands/find.md', '.claude/commands/remove.md'],
    ],
    ['subagent', ['.claude/agents/documented.md']],
    ['llms', ['llms-full.txt', 'llms.txt']],
    ['man', ['man/documented.1']],
    ['openapi', ['openapi.json']],
    ['markdown', ['docs/documented.md']],
  ])('puts %s where it belongs, and nothing the second time', async (kind, paths) => {
    const folder = makeFolder()
    const first = await docs(folder, [kind, '--write'])
    expect(first.status).toBe(0)
    expect(state(first.json.result)).toEqual(
      Object.fromEntries(paths.map((path) => [path, 'written'])),
    )
    const files = filesIn(folder)
    expect(Object.keys(files)).toEqual(paths)
    const second = await docs(folder, [kind, '--write'])
    expect(state(second.json.result)).toEqual(
      Object.fromEntries(paths.map((path) => [path, 'unchanged'])),
    )
    expect(filesIn(folder)).toEqual(files)
    expect((await docs(folder, [kind, '--check'])).status).toBe(0)
    const printed = (await docs(folder, [kind, '--json'])).json.result as {
      path: string
      text: string
    }[]
    expect(Object.fromEntries(printed.map(({ path, text }) => [path, text]))).toEqual(files)
  })

  test('writes to another folder, which it makes', async () => {
    const folder = makeFolder()
    expect((await docs(folder, ['llms', '--out', 'deep/er'])).status).toBe(0)
    expect(Object.keys(filesIn(folder))).toEqual(['deep/er/llms-full.txt', 'deep/er/llms.txt'])
  })

  test('says what would be done and does nothing in a dry run', async () => {
    const folder = makeFolder()
    await docs(folder, ['skill', '--write'])
    const files = filesIn(folder)
    const { json } = await docs(folder, ['skill', '--write', '--dry-run'], 'fewer')
    expect(json).toMatchObject({ ok: true, meta: { dry_run: true } })
    expect(json.result.plan).toEqual([
      { action: 'replace', target: SKILL },
      { action: 'remove', target: 'skills/documented/references/remove.md' },
    ])
    expect(filesIn(folder)).toEqual(files)
    expect((await docs(makeFolder(), ['man', '--write', '--dry-run'])).json.result.plan).toEqual([
      { action: 'create', target: 'man/documented.1' },
    ])
  })

  test('shows a person what was written', async () => {
    const folder = makeFolder()
    expect((await docs(folder, ['man', '--write', '-o', 'text'])).stdout).toMatch(
      /^path +state\nman\/documented\.1 +written\n$/,
    )
  })

  test('replaces what it wrote before and removes what is no longer made', async () => {
    const folder = makeFolder()
    await docs(folder, ['skill', '--write'])
    writeFileSync(join(folder, 'skills/documented/references/mine.md'), '# Mine\n')
    const { json } = await docs(folder, ['skill', '--write'], 'fewer')
    expect(state(json.result)).toEqual({
      [SKILL]: 'written',
      'skills/documented/references/find.md': 'unchanged',
      'skills/documented/references/count.md': 'unchanged',
      'skills/documented/references/remove.md': 'removed',
    })
    expect(Object.keys(filesIn(folder))).toEqual([
      SKILL,
      'skills/documented/references/count.md',
      'skills/documented/references/find.md',
      'skills/documented/references/mine.md',
    ])
    await docs(folder, ['skill', '--write'], 'small')
    expect(Object.keys(filesIn(folder))).toEqual([SKILL, 'skills/documented/references/mine.md'])
  })

  test('a folder that is empty afterwards goes too', async () => {
    const folder = makeFolder()
    await docs(folder, ['skill', '--write'])
    await docs(folder, ['skill', '--write'], 'small')
    expect(() => lstatSync(join(folder, 'skills/documented/references'))).toThrow('ENOENT')
  })

  test('commands of other tools stay when one is written', async () => {
    const folder = makeFolder()
    await docs(folder, ['command', '--write'])
    const { json } = await docs(folder, ['command', '--tool', 'find', '--write'])
    expect(state(json.result)).toEqual({ '.claude/commands/find.md': 'unchanged' })
    expect(Object.keys(filesIn(folder))).toHaveLength(3)
    expect(state((await docs(folder, ['command', '--write'], 'fewer')).json.result)).toMatchObject({
      '.claude/commands/remove.md': 'removed',
    })
  })

  test('never replaces what somebody else has written, unless told to', async () => {
    const folder = makeFolder()
    writeFileSync(join(folder, 'llms-full.txt'), 'my own words\n')
    const refused = await docs(folder, ['llms', '--write'])
    expect(refused.status).toBe(73)
    expect(refused.json.error).toMatchObject({
      code: 'CONFLICT',
      message:
        "llms-full.txt was not generated by 'documented docs llms' and is left alone; nothing was written",
      suggestion: { example: 'documented docs llms --write --force' },
      details: { paths: ['llms-full.txt'] },
    })
    expect(filesIn(folder)).toEqual({ 'llms-full.txt': 'my own words\n' })
    expect((await docs(folder, ['llms', '--write', '--force'])).status).toBe(0)
    expect(filesIn(folder)['llms-full.txt']).toMatch(/^# documented\n/)
  })

  test('nor what another program generated, but an empty file is nobody’s', async () => {
    const folder = makeFolder()
    mkdirSync(join(folder, 'man'))
    const file = join(folder, 'man/documented.1')
    writeFileSync(file, '.\\" toolable:other docs man: generated, edits are lost\n')
    expect((await docs(folder, ['man', '--write'])).status).toBe(73)
    writeFileSync(file, '\n')
    expect((await docs(folder, ['man', '--write'])).status).toBe(0)
  })

  test('keeps the mode of a file', async () => {
    const folder = makeFolder()
    await docs(folder, ['man', '--write'])
    const file = join(folder, 'man/documented.1')
    chmodSync(file, 0o640)
    await docs(folder, ['man', '--write'], 'changed')
    expect(statSync(file).mode & 0o777).toBe(0o640)
    expect(readFileSync(file, 'utf8')).toContain('Look for things')
  })
})

describe('a block in a file of people [5.docs]', () => {
  const inFile = async (text: string, now?: string): Promise<string> => {
    const folder = makeFolder()
    writeFileSync(join(folder, 'AGENTS.md'), text)
    expect((await docs(folder, ['agents', '--write'], now)).status).toBe(0)
    return readFileSync(join(folder, 'AGENTS.md'), 'utf8')
  }

  test.each([
    ['with line ends of Unix', '\n'],
    ['with line ends of Windows', '\r\n'],
  ])('is replaced %s, and all around it stays', async (_how, end) => {
    const before = `# Ours${end}${end}Words\t ${end}`
    const once = await inFile(before)
    expect(once.startsWith(before)).toBe(true)
    expect(once.split(end)).toHaveLength(once.split('\n').length)
    const changed = await inFile(`${once}${end}After it`, 'changed')
    expect(changed.startsWith(before)).toBe(true)
    expect(changed.endsWith(`<!-- toolable:documented end -->${end}${end}After it`)).toBe(true)
    expect(changed).toContain('Look for things')
    expect(changed.match(/toolable:documented begin/g)).toHaveLength(1)
    expect(await inFile(changed)).toBe(`${once}${end}After it`)
  })

  test('leaves a file with damaged marks alone and says which', async () => {
    const folder = makeFolder()
    const text = '# Ours\n\n<!-- toolable:documented begin -->\nold\n'
    writeFileSync(join(folder, 'CLAUDE.md'), text)
    for (const flag of ['--write', '--check']) {
      const { status, json } = await docs(folder, ['claude', flag])
      expect(status).toBe(73)
      expect(json.error).toMatchObject({
        code: 'CONFLICT',
        message: expect.stringContaining(
          'CLAUDE.md are not one pair of begin and end (begin in line 3), so the file was left alone',
        ),
        suggestion: {
          fix: expect.stringContaining("one line '<!-- toolable:documented begin -->'"),
        },
      })
    }
    expect(filesIn(folder)).toEqual({ 'CLAUDE.md': text })
  })

  test('follows a link within the folder and keeps it', async () => {
    const folder = makeFolder()
    writeFileSync(join(folder, 'AGENTS.md'), '# Ours\n')
    symlinkSync('AGENTS.md', join(folder, 'CLAUDE.md'))
    expect((await docs(folder, ['claude', '--write'])).status).toBe(0)
    expect(readlinkSync(join(folder, 'CLAUDE.md'))).toBe('AGENTS.md')
    expect((await docs(folder, ['agents', '--check'])).status).toBe(0)
    expect(readFileSync(join(folder, 'AGENTS.md'), 'utf8')).toContain(
      '# Ours\n\n<!-- toolable:documented begin -->',
    )
  })
})
