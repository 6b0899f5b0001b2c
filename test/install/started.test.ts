import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { cleanEnvironment, fixture, makeFolder } from '../support/run-program.ts'
import { makeMachine } from './machine.ts'
import type { Machine } from './machine.ts'

const entryOf = (machine: Machine, file = 'project/.mcp.json'): any =>
  JSON.parse(machine.read(file)).mcpServers['file-tools']
const runLink = (machine: Machine, link: string, path: string, ...args: string[]): number | null =>
  spawnSync(process.execPath, [link, 'mcp', 'add', '--agent', 'claude-code', ...args], {
    cwd: machine.project,
    env: cleanEnvironment({ HOME: machine.home, PATH: path }),
  }).status

describe('an agent is told to start the program', () => {
  test('by interpreter and file, where it is just a file [5.mcp-add]', async () => {
    const machine = makeMachine()
    await machine.spawn(
      ['mcp', 'add', '--agent', 'claude-code'],
      { PATH: join(process.execPath, '..') },
      ['--no-warnings'],
    )
    expect(entryOf(machine)).toMatchObject({
      command: 'node',
      args: ['--no-warnings', fixture('installs-itself.mjs'), '--serve-mcp', 'stdio'],
    })
  })

  test('by its name, where it is installed [5.mcp-add]', () => {
    const machine = makeMachine()
    const bin = makeFolder()
    symlinkSync(fixture('installs-itself.mjs'), join(bin, 'filer'))
    expect(runLink(machine, join(bin, 'filer'), bin)).toBe(0)
    expect(entryOf(machine)).toMatchObject({ command: 'filer', args: ['--serve-mcp', 'stdio'] })
  })

  test('through npx, where it is a package of the project; elsewhere that would find nothing', () => {
    const machine = makeMachine()
    const bin = join(machine.project, 'node_modules/.bin')
    mkdirSync(bin, { recursive: true })
    symlinkSync(fixture('installs-itself.mjs'), join(bin, 'filer'))
    expect([
      runLink(machine, join(bin, 'filer'), bin),
      runLink(machine, join(bin, 'filer'), bin, '--scope', 'user'),
    ]).toEqual([0, 0])
    expect(entryOf(machine)).toMatchObject({
      command: 'npx',
      args: ['--no-install', 'filer', '--serve-mcp', 'stdio'],
    })
    expect(entryOf(machine, 'home/.claude.json')).toMatchObject({
      command: process.execPath,
      args: [join(bin, 'filer'), '--serve-mcp', 'stdio'],
    })
  })

  test('and what it is told works: the entry starts a server that answers [5.mcp-add]', async () => {
    const machine = makeMachine()
    await machine.spawn(['mcp', 'add', '--agent', 'claude-code', '--env', 'SUMMARY=Count them all'])
    const { command, args, env } = entryOf(machine)
    const server = spawn(command, args, {
      cwd: machine.project,
      env: cleanEnvironment({ HOME: machine.home, ...env }),
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const initialize = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'test', version: '1' },
      },
    }
    server.stdin.end(
      `${JSON.stringify(initialize)}\n${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' })}\n`,
    )
    let said = ''
    for await (const chunk of server.stdout) said += String(chunk)
    const answers = said
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(answers.find(({ id }) => id === 1).result.serverInfo.name).toBe('file-tools')
    expect(
      answers.find(({ id }) => id === 2).result.tools.map(({ description }: any) => description),
    ).toContain('Count them all')
  })
})
