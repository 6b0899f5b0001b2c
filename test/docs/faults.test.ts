import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeFolder, runShell } from '../support/run-program.ts'
import { docs, filesIn } from './support.ts'

describe('docs --write in the face of what may be on a disk [5.docs-write-safe]', () => {
  test('a folder where the file should be', async () => {
    const folder = makeFolder()
    mkdirSync(join(folder, 'AGENTS.md'))
    const { status, json } = await docs(folder, ['agents', '--write'])
    expect(status).toBe(73)
    expect(json.error).toMatchObject({
      code: 'CONFLICT',
      message: expect.stringMatching(/AGENTS\.md is a folder, so it cannot be written$/),
    })
  })

  test('a file where a folder should be', async () => {
    const folder = makeFolder()
    writeFileSync(join(folder, 'skills'), 'mine')
    const { status, json } = await docs(folder, ['skill', '--write'])
    expect(status).toBe(73)
    expect(json.error.message).toMatch(
      /skills is not a folder, so skills\/documented\/SKILL\.md cannot be written$/,
    )
    const out = await docs(folder, ['man', '--out', 'skills/deeper'])
    expect(out.status).toBe(73)
    expect(out.json.error).toMatchObject({
      code: 'CONFLICT',
      field: 'out',
      message: expect.stringMatching(/skills is not a folder$/),
    })
    expect(filesIn(folder)).toEqual({ skills: 'mine' })
  })

  test('a link that leads out of the folder, for the file and for a folder above it', async () => {
    const folder = makeFolder()
    const other = makeFolder()
    writeFileSync(join(other, 'victim.md'), 'mine')
    symlinkSync(join(other, 'victim.md'), join(folder, 'AGENTS.md'))
    symlinkSync(other, join(folder, 'skills'))
    for (const kind of ['agents', 'skill']) {
      const { status, json } = await docs(folder, [kind, '--write', '--force'])
      expect(status).toBe(77)
      expect(json.error).toMatchObject({
        code: 'PERMISSION',
        message: expect.stringContaining('leads out of'),
      })
    }
    expect(filesIn(other)).toEqual({ 'victim.md': 'mine' })
  })

  test('a link that leads nowhere', async () => {
    const folder = makeFolder()
    symlinkSync('nowhere', join(folder, 'AGENTS.md'))
    expect((await docs(folder, ['agents', '--write'])).json.error).toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('leads nowhere'),
    })
  })

  test('a pipe in the place of the file does not hold it up', async () => {
    const folder = makeFolder()
    expect(spawnSync('mkfifo', [join(folder, 'CLAUDE.md')]).status).toBe(0)
    expect((await docs(folder, ['claude', '--write'])).json.error).toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('not a regular file'),
    })
  })

  test('a file that is no text', async () => {
    const folder = makeFolder()
    const bytes = Buffer.from([0x23, 0xff, 0xfe, 0x0a])
    writeFileSync(join(folder, 'AGENTS.md'), bytes)
    expect((await docs(folder, ['agents', '--write'])).json.error).toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('is not text in UTF-8, so it was left alone'),
    })
    expect(readFileSync(join(folder, 'AGENTS.md'))).toEqual(bytes)
  })

  test('a file system that takes nothing', async () => {
    // Nobody can make a folder there, not even root.
    const { status, json } = await docs(makeFolder(), ['man', '--out', '/sys/toolable'])
    expect(status).toBe(77)
    expect(json.error).toMatchObject({
      code: 'PERMISSION',
      message: expect.stringContaining('/sys/toolable'),
    })
  })

  test('a write that breaks off in the middle leaves the old file and nothing else', async () => {
    const folder = makeFolder()
    await docs(folder, ['markdown', '--write'])
    const before = filesIn(folder)
    // Files may have 1024 bytes from here on; what would be written has more.
    const script =
      'ulimit -f 1; $PROG docs markdown --write; status=$?; $PROG docs man --write > /dev/null 2>&1; exit $status'
    const { status, json } = await runShell('documented.mjs', script, {
      cwd: folder,
      env: { DOCUMENTED: 'changed', NODE_V8_COVERAGE: '' },
    })
    expect(status).not.toBe(0)
    expect(json).toMatchObject({ ok: false, error: { message: expect.stringContaining('EFBIG') } })
    expect(filesIn(folder)).toEqual(before)
    expect(() => readFileSync(join(folder, 'man'))).toThrow('ENOENT')
  })

  test('nothing at all is written when one of several files may not be', async () => {
    const folder = makeFolder()
    mkdirSync(join(folder, 'llms-full.txt'))
    expect((await docs(folder, ['llms', '--write'])).status).toBe(73)
    expect(filesIn(folder)).toEqual({})
  })
})
