import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fixture, makeFolder, runProgram } from '../support/run-program.ts'
import { TOOLABLE_IN_MODULES } from '../support/toolable-program.ts'
import { folderWith, startToolable, toolable } from './support.ts'

const SCRIPT =
  '#!/bin/sh\n# toolable: {"name": "shout", "summary": "Shout a text", "input": {"type": "object", "properties": {"text": {"type": "string", "description": "What"}}, "required": ["text"]}, "call": "stdin"}\ncat\n'

describe('a start', () => {
  test('of toolable list over a known folder loads no schema library, no YAML, no MCP and starts nothing [6.command-lazy]', async () => {
    const cwd = folderWith({
      'tools/shout.sh': SCRIPT,
      'tools/plain.sh': 'echo {}\n',
      'tools/plain.yaml':
        'name: plain\ndescription: A plain thing\ncommand: bash\nentry: tools/plain.sh\nparameters: {type: object, properties: {}}\n',
    })
    chmodSync(join(cwd, 'tools/shout.sh'), 0o755)
    const first = await toolable(['list'], { cwd })
    expect(first.json.result.tools.map(({ name }: { name: string }) => name).sort()).toEqual([
      'plain',
      'shout',
    ])
    const file = join(makeFolder(), 'modules')
    const { json } = await runProgram(TOOLABLE_IN_MODULES, ['list'], {
      cwd,
      nodeArgs: ['--no-warnings', '--import', fixture('record-modules.mjs')],
      env: { MODULES_FILE: file },
    })
    expect(json.result).toEqual(first.json.result)
    const modules = readFileSync(file, 'utf8').split('\n')
    expect(modules.some((url) => /\/registry-[\w-]+\.js$/.test(url))).toBe(true)
    expect(
      modules.filter((url) =>
        /node_modules\/|\/(mcp|help|bare|table|check|probe|yaml)-[\w-]+\.js$|^builtin:(child_process|http|https|net|tls|readline)$/.test(
          url,
        ),
      ),
    ).toEqual([])
  })
})

describe('toolable serve', () => {
  test('puts the whole registry behind one MCP endpoint, by its own command and by the one that agents get [6.command-serve]', async () => {
    for (const args of [
      ['serve', 'mcp'],
      ['--serve-mcp', 'stdio'],
    ]) {
      const server = startToolable(args, { input: 'open' })
      server.write(
        `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } } })}\n`,
      )
      server.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`)
      server.write(`${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' })}\n`)
      server.write(
        `${JSON.stringify({ jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'greet', arguments: { name: 'Ada' } } })}\n`,
      )
      await server.said('"id":3')
      server.closeStdin()
      const { status, lines } = await server.ended
      const answer = (id: number) => lines.find((line) => line.id === id)?.result
      expect(status).toBe(0)
      expect(answer(1).serverInfo.name).toBe('project')
      expect(
        answer(2)
          .tools.map(({ name }: { name: string }) => name)
          .sort(),
      ).toEqual(['break_down', 'count', 'greet', 'others__greet', 'wipe_all'])
      expect(answer(3).structuredContent).toMatchObject({ text: 'Hello Ada' })
    }
  })

  test('serves it over HTTP until it is told to stop [6.command-serve]', async () => {
    const server = startToolable(['serve', 'http', '--port', '0', '-o', 'json'])
    await server.said('"listening"', 'stderr')
    server.kill('SIGTERM')
    const { status, stderr } = await server.ended
    expect(status).toBe(0)
    expect(stderr).toContain('http://127.0.0.1:')
  })

  test('refuses a configuration that is wrong before it listens [6.command-serve]', async () => {
    const { status, json } = await toolable(['serve', 'http', '--config', 'nowhere.json'])
    expect([status, json.error.code]).toEqual([78, 'CONFIG'])
  })
})
