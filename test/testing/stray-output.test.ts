import { describe, expect, test, vi } from 'vitest'
import { tool, toolset } from 'toolable'
import { runCli } from 'toolable/testing'
import { runProgram } from '../support/run-program.ts'

const noisy = tool({
  name: 'noisy',
  summary: 'Prints',
  input: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  positional: ['name'],
  async run({ name }) {
    console.log('log', { name })
    console.table([{ name }])
    await new Promise((resolve) => setTimeout(resolve, 1))
    console.warn('warn', name)
    process.stdout.write(`{"ok":true,"name":"${name as string}"}\n`)
    return name
  },
})
const leaves = tool({ name: 'leaves', summary: 'Ends the process', run: () => process.exit(0) })
const set = toolset({ name: 'prog', tools: [noisy, leaves] })

describe('what handlers print', () => {
  test('goes to the captured stderr, in runs at the same time each to its own [2.kit-stray-output]', async () => {
    const names = ['a', 'b', 'c', 'd']
    const results = await Promise.all(names.map((name) => runCli(set, ['noisy', name])))
    for (const [index, { stdout, stderr, outcome }] of results.entries()) {
      const name = names[index]!
      expect(JSON.parse(stdout)).toEqual(outcome)
      expect(outcome).toMatchObject({ result: name })
      expect(stderr.split('\n').slice(0, 1)).toEqual([`log { name: '${name}' }`])
      expect(stderr).toContain(`warn ${name}\n{"ok":true,"name":"${name}"}\n`)
      expect(names.filter((other) => stderr.includes(`warn ${other}`))).toEqual([name])
    }
  })

  test('what the test prints meanwhile is left alone [2.kit-stray-output]', async () => {
    const heard = vi.spyOn(console, 'log').mockImplementation(() => undefined)
    const running = runCli(set, ['noisy', 'x'])
    console.log('from the test')
    const { stderr } = await running
    expect(heard.mock.calls).toEqual([['from the test']])
    expect(stderr).toContain("log { name: 'x' }")
    expect(stderr).not.toContain('from the test')
    expect(console.log).toBe(heard)
    heard.mockRestore()
  })

  test('process.exit in a handler fails the call and nothing else [2.kit-leaves-nothing]', async () => {
    const before = process.exitCode
    const { exitCode, outcome } = await runCli(set, ['leaves'])
    expect([exitCode, outcome]).toMatchObject([
      1,
      { error: { code: 'INTERNAL', message: 'the tool called process.exit(0)' } },
    ])
    expect(process.exitCode).toBe(before)
  })

  test('in a plain process without a test runner all of it holds too [2.kit-leaves-nothing]', async () => {
    const { status, stdout, stderr } = await runProgram('uses-the-kit.mjs')
    expect([status, stderr]).toEqual([0, ''])
    const [said, summary, ...more] = stdout.split('\n')
    expect([said, more]).toEqual(['the test itself', []])
    expect(JSON.parse(summary!)).toEqual({
      runs: ['one', 'two', 'three'].map((name) => ({
        pure: true,
        stderr: ['log', 'kept', 'error', 'stdout', 'stderr', 'told'].map(
          (word) => `${word} ${name}`,
        ),
      })),
      exit: [1, 'the tool called process.exit(3)'],
      listeners: true,
      functions: true,
      exitCode: null,
    })
  })
})
