import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { runProgram } from '../support/run-program.ts'

describe.concurrent('the command that serves [5.serve-mcp] [5.serve-mcp-alias]', () => {
  test.each([[['mcp', 'serve', '--transport', 'sse']], [['--serve-mcp', 'sse']]])(
    '%j is a usage error that names http [5.mcp-no-sse]',
    async (args) => {
      const { status, json } = await runProgram('workshop.mjs', args, { input: '' })
      expect(status).toBe(2)
      expect(json.error.code).toMatch(/USAGE|INVALID_INPUT/)
      expect(JSON.stringify(json.error)).toContain('http')
    },
  )

  test.each([
    [['--serve-mcp'], 2, '--serve-mcp <transport>'],
    [['--serve-mcp', 'pigeon'], 2, 'stdio'],
    [['--serve-mcp', 'http', '--port', '99999'], 2, 'port'],
    [['--serve-mcp', 'http', '--port', 'abc'], 2, 'port'],
    [['--serve-mcp', 'http', '--host', 'not a host', '--port', '0'], 78, 'not a host'],
    [['--serve-mcp', 'http', '--host', '0.0.0.0', '--port', '0'], 78, 'token'],
    [['--serve-mcp', 'http', '--port', '0', '--token-file', '/nonexistent'], 66, '/nonexistent'],
    [['--serve-mcp', 'stdio', '--prot', '1'], 2, '--port'],
  ])('%j ends at once with status %i and says %s', async (args, exit, words) => {
    const { status, json } = await runProgram('workshop.mjs', args, { input: '' })
    expect(JSON.stringify(json.error)).toContain(words)
    expect(status).toBe(exit)
  })

  test('a port that is taken is told at once, with what to do [5.mcp-port-taken]', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    const { port } = other.address() as AddressInfo
    const { status, json } = await runProgram(
      'workshop.mjs',
      ['--serve-mcp', 'http', '--port', String(port)],
      { input: '' },
    )
    expect(status).not.toBe(0)
    expect(json.error.message).toContain(String(port))
    expect(json.error.suggestion.fix).toMatch(/port/i)
    other.close()
  })

  test('help knows it', async () => {
    const { status, stdout } = await runProgram('workshop.mjs', ['mcp', 'serve', '--help'])
    expect(status).toBe(0)
    for (const flag of [
      '--transport',
      '--host',
      '--port',
      '--token-file',
      '--[no-]progressive',
      '--confirm',
      '--page-size',
    ])
      expect(stdout).toContain(flag)
  })
})
