import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeFolder, runShell } from '../support/run-program.ts'
import { docs, filesIn } from './support.ts'

describe('docs --check [5.docs-check]', () => {
  test('fails when a file is missing, and names the command that mends it', async () => {
    const folder = makeFolder()
    const { status, json, stderr } = await docs(folder, ['llms', '--check'])
    expect(status).toBe(1)
    expect(json.error).toMatchObject({
      code: 'PRECONDITION',
      message: 'llms.txt is missing; llms-full.txt is missing',
      suggestion: { example: 'documented docs llms --write' },
      details: { missing: ['llms.txt', 'llms-full.txt'] },
    })
    expect(JSON.parse(stderr)).toEqual({ error: json.error })
    expect(filesIn(folder)).toEqual({})
  })

  test('passes what is current and names it', async () => {
    const folder = makeFolder()
    await docs(folder, ['man', '--write'])
    const { status, json } = await docs(folder, ['man', '--check'])
    expect({ status, result: json.result }).toEqual({
      status: 0,
      result: [{ path: 'man/documented.1', state: 'current' }],
    })
  })

  test('fails when the program has changed, for people in words', async () => {
    const folder = makeFolder()
    await docs(folder, ['agents', '--write'])
    const before = filesIn(folder)
    const { status, stdout, stderr } = await docs(
      folder,
      ['agents', '--check', '-o', 'text'],
      'changed',
    )
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toContain('AGENTS.md is stale')
    expect(stderr).toContain('documented docs agents --write')
    expect(filesIn(folder)).toEqual(before)
    await docs(folder, ['agents', '--write'], 'changed')
    expect((await docs(folder, ['agents', '--check'], 'changed')).status).toBe(0)
  })

  test('fails when a file was edited, or is of somebody else', async () => {
    const folder = makeFolder()
    await docs(folder, ['skill', '--write'])
    const skill = join(folder, 'skills/documented/SKILL.md')
    writeFileSync(skill, readFileSync(skill, 'utf8').replace('Find things', 'Lose things'))
    writeFileSync(join(folder, 'skills/documented/references/count.md'), 'mine')
    const { json } = await docs(folder, ['skill', '--check'])
    expect(json.error).toMatchObject({
      details: {
        stale: ['skills/documented/SKILL.md'],
        foreign: ['skills/documented/references/count.md'],
      },
      suggestion: { example: 'documented docs skill --write --force' },
    })
  })

  test('notices files that are no longer made, and no others', async () => {
    const folder = makeFolder()
    await docs(folder, ['skill', '--write'], 'fewer')
    await docs(folder, ['command', '--write'])
    const references = join(folder, 'skills/documented/references')
    writeFileSync(join(references, 'mine.md'), 'by hand\n')
    expect((await docs(folder, ['skill', '--check'], 'fewer')).status).toBe(0)
    const old = readFileSync(join(references, 'find.md'), 'utf8')
    writeFileSync(join(references, 'old.md'), old)
    expect((await docs(folder, ['skill', '--check'], 'fewer')).json.error).toMatchObject({
      message: 'skills/documented/references/old.md is left over',
      details: { leftover: ['skills/documented/references/old.md'] },
    })
    expect((await docs(folder, ['command', '--check'], 'fewer')).json.error).toMatchObject({
      message: '.claude/commands/remove.md is left over',
    })
    expect((await docs(folder, ['command', '--tool', 'find', '--check'], 'fewer')).status).toBe(0)
  })

  test('line ends of a checkout on Windows make nothing stale', async () => {
    const folder = makeFolder()
    for (const kind of ['agents', 'llms', 'man']) await docs(folder, [kind, '--write'])
    for (const [path, text] of Object.entries(filesIn(folder)))
      writeFileSync(join(folder, path), text.replaceAll('\n', '\r\n'))
    for (const kind of ['agents', 'llms', 'man'])
      expect((await docs(folder, [kind, '--check'])).status).toBe(0)
  })

  test('the command it names can be pasted, with folder and tools', async () => {
    const folder = makeFolder()
    const { json } = await docs(folder, [
      'skill',
      '--tool',
      'find',
      '--out',
      "it's here",
      '--check',
    ])
    expect(json.error.suggestion.example).toBe(
      "documented docs skill --tool find --write --out 'it'\\''s here'",
    )
    expect(
      (
        await runShell(
          'documented.mjs',
          json.error.suggestion.example.replace('documented', '$PROG'),
          { cwd: folder },
        )
      ).status,
    ).toBe(0)
    expect(
      (await docs(folder, ['skill', '--tool', 'find', '--out', "it's here", '--check'])).status,
    ).toBe(0)
  })
})
