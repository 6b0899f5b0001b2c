import { describe, expect, test } from 'vitest'
import { runProgram } from '../support/run-program.ts'

describe.concurrent('stray output', () => {
  test.each([
    'console-log',
    'console-table',
    'stdout-write',
    'stdout-callback',
    'write-sync',
    'write-async',
    'write-file',
    'write-stream',
    'spawn-inherit',
    'spawn-array',
    'spawn-stream',
    'spawn-sync',
    'exec-sync',
    'exec-piped',
    'fork',
    'worker',
    'library',
    'pipe-to-stdout',
  ])('%s in a handler goes to stderr [4.console-never-on-stdout] [5.one-document]', async (how) => {
    const { status, json, stdout, stderr } = await runProgram('prints-too-much.mjs', [how])
    expect(stdout).not.toContain('STRAY')
    expect(json.result).toEqual({ how, ...(how === 'exec-piped' && { result: 'piped' }) })
    expect(stderr).toContain('STRAY')
    expect(status).toBe(0)
  })

  test.each(['import-spawn', 'import-exec-sync', 'require-spawn-sync', 'import-library', 'worker'])(
    '%s loaded inside the handler goes to stderr [4.console-never-on-stdout]',
    async (how) => {
      const { status, json, stdout, stderr } = await runProgram('prints-late.mjs', [how])
      expect(stdout).not.toContain('STRAY')
      expect([status, json.result]).toEqual([0, { how }])
      expect(stderr).toContain('STRAY')
    },
  )

  test.each(['import-spawn', 'import-exec-sync', 'require-spawn-sync'])(
    "%s under node's permission model [4.console-never-on-stdout]",
    async (how) => {
      const flag = process.allowedNodeEnvironmentFlags.has('--permission')
        ? '--permission'
        : '--experimental-permission'
      const { json, stdout, stderr } = await runProgram('prints-late.mjs', [how], {
        nodeArgs: [
          '--no-warnings',
          flag,
          '--allow-fs-read=*',
          '--allow-fs-write=*',
          '--allow-child-process',
        ],
      })
      expect(stdout).not.toContain('STRAY')
      expect(json.result).toEqual({ how })
      expect(stderr).toContain('STRAY')
    },
  )

  test('the same in every other mode of output [4.console-never-on-stdout]', async () => {
    const [stream, text, jsonl] = await Promise.all([
      runProgram('prints-too-much.mjs', ['library', '--stream']),
      runProgram('prints-too-much.mjs', ['library', '--output', 'text']),
      runProgram('prints-too-much.mjs', ['library', '--dialect', 'acor']),
    ])
    for (const { stdout, stderr } of [stream, text, jsonl]) {
      expect(stdout).not.toContain('STRAY')
      expect(stderr).toContain('STRAY')
    }
    expect(stream.lines).toHaveLength(1)
  })

  test("what a program prints before it runs is its author's own; the answer stays one whole line behind it [5.whole-output]", async () => {
    const { status, stdout, stderr } = await runProgram('prints-before-it-runs.mjs', ['late'])
    const lines = stdout.split('\n')
    expect(lines.slice(0, 2)).toEqual(['LOADED', 'READY'])
    expect(JSON.parse(lines[2]!).result.big).toHaveLength(200_000)
    expect(lines.slice(3)).toEqual([''])
    expect(stderr).toBe('STRAY\nSTRAY\n')
    expect(status).toBe(0)
  })
})
