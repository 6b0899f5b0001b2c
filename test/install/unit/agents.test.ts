import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { AGENT_NAMES, loadAgents } from '../../../src/install/agents/agents.ts'
import { getLaunchCommand } from '../../../src/install/server-entry.ts'

const folder = mkdtempSync(join(tmpdir(), 'toolable-agents-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('agents', async () => {
  const agents = await loadAgents()
  const files = (platform: string, env: { readonly [name: string]: string } = {}): string[] =>
    agents.flatMap(({ servers }) =>
      servers ? [servers.getFile('user', { env, cwd: '/p', home: '/h', platform })] : [],
    )

  test('keep the files of a user where each platform does', () => {
    const common = ['/h/.claude.json', '/h/.codex/config.toml', '/h/.cursor/mcp.json']
    expect(files('linux')).toEqual([...common, '/h/.config/Code/User/mcp.json'])
    expect(files('darwin')).toEqual([
      ...common,
      '/h/Library/Application Support/Code/User/mcp.json',
    ])
    expect(files('win32', { APPDATA: '/h/AppData/Roaming' })).toEqual([
      ...common,
      '/h/AppData/Roaming/Code/User/mcp.json',
    ])
    expect(files('win32')).toEqual([...common, '/h/AppData/Roaming/Code/User/mcp.json'])
  })

  test('have names of their own, and a place for skills', () => {
    expect(AGENT_NAMES).toEqual(['claude-code', 'codex', 'cursor', 'vscode', 'shared'])
    for (const agent of agents)
      expect(
        agent.getSkillsFolder('project', { env: {}, cwd: '/p', home: '/h', platform: 'linux' }),
      ).toMatch(/^\/p\/\.(claude|agents)\/skills$/)
  })
})

describe('how a program is started', () => {
  const here = { env: { PATH: '' }, cwd: folder, home: '/h', platform: 'linux' }
  const started = (script: string | undefined, execArgv: readonly string[] = []) =>
    getLaunchCommand({ execPath: '/opt/node/bin/node', execArgv, script }, 'prog', 'project', here)

  test('by its name when nobody knows, by itself when it is one file', () => {
    expect(started(undefined)).toEqual({ command: 'prog', args: [] })
    expect(started('/opt/node/bin/node')).toEqual({ command: '/opt/node/bin/node', args: [] })
  })

  test('with the options of its interpreter, those of a debugger excepted', () => {
    expect(started('/x/prog.ts', ['--import', 'tsx', '--inspect-brk=9229'])).toEqual({
      command: '/opt/node/bin/node',
      args: ['--import', 'tsx', '/x/prog.ts'],
    })
  })

  test('by the package that npx fetched for one call', () => {
    const cache = join(folder, '_npx/1a2b/node_modules')
    mkdirSync(join(cache, '@team/filer/dist'), { recursive: true })
    mkdirSync(join(cache, '.bin'))
    writeFileSync(join(cache, '@team/filer/dist/cli.js'), '')
    symlinkSync('../@team/filer/dist/cli.js', join(cache, '.bin/filer'))
    expect(started(join(cache, '.bin/filer'))).toEqual({
      command: 'npx',
      args: ['-y', '--package=@team/filer', 'filer'],
    })
  })
})
