import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadRegistryOptions } from '../../src/commands/config.ts'
import type { RegistryFlags } from '../../src/commands/config.ts'
import { folderWith, project, toolable } from './support.ts'

const env = { HOME: '/nowhere' }

function load(files: { readonly [path: string]: string }, given: RegistryFlags = {}, inside = '.') {
  const folder = folderWith(files)
  return loadRegistryOptions(given, { cwd: join(folder, inside), env }).then((options) => ({
    folder,
    options,
  }))
}

/** The message of a refusal, which has to be CONFIG. */
async function refusal(
  files: { readonly [path: string]: string },
  given?: RegistryFlags,
): Promise<string> {
  return load(files, given).then(
    () => expect.fail('was not refused'),
    (error: { code: string; message: string }) => {
      expect(error.code).toBe('CONFIG')
      return error.message
    },
  )
}

describe('a configuration', () => {
  test('is found upwards, the nearest wins, and its paths start at the file [6.config-file]', async () => {
    const { folder, options } = await load(
      {
        'toolable.json': '{"folders":["far"]}',
        'a/toolable.yml': 'folders: [near]\nstrict: true\n',
        'a/b/c/x': '',
      },
      {},
      'a/b/c',
    )
    expect(options).toEqual({ folders: ['near'], strict: true, cwd: join(folder, 'a'), env })
  })

  test('takes all that registry() takes, and leaves what others read there [6.config-file]', async () => {
    const { options } = await load({
      'toolable.yaml': [
        'name: mine',
        'folders: [tools, {path: more, name: m, help: true}]',
        'modules: [a.mjs]',
        'programs: [git, {command: docker, only: [ps], depth: 1}]',
        'mcpServers:',
        '  files: {command: npx, args: [-y, server], alwaysAllow: [read]}',
        '  web: {url: "http://127.0.0.1:1/mcp", headers: {Authorization: "Bearer ${TOKEN}"}}',
        'toolServers: ["http://127.0.0.1:2"]',
        'openapi: [{document: api.json, baseUrl: "http://127.0.0.1:3"}]',
        'cache: kept',
        'probe: {concurrency: 2}',
        'settings: {output: text}',
        'defaults: {mine: {greet: {name: Ada}}}',
      ].join('\n'),
    })
    expect(Object.keys(options)).toEqual([
      'name',
      'folders',
      'modules',
      'programs',
      'mcpServers',
      'toolServers',
      'openapi',
      'cache',
      'probe',
      'cwd',
      'env',
    ])
    expect(options.cache).toMatch(/\/kept$/)
  })

  test('may be a file of MCP servers that belongs to another program [6.config-file]', async () => {
    const { options } = await load(
      { '.mcp.json': '{"mcpServers":{"a":{"command":"x","autoApprove":[]}},"inputs":[1]}' },
      { config: '.mcp.json' },
    )
    expect(options.mcpServers).toEqual({ a: { command: 'x', autoApprove: [] } })
  })

  test('is not needed: ./tools counts where it is, and --folder adds folders of the caller [6.config-file]', async () => {
    const { options: alone } = await load({ 'tools/x': '' })
    expect(alone.folders).toEqual(['tools'])
    const { options: nothing } = await load({ x: '' })
    expect(nothing.folders).toBeUndefined()
    const { folder, options: added } = await load(
      { 'toolable.yaml': 'folders: [tools]', 'a/extra/x': '' },
      { folder: ['extra'], strict: true, probeUnsandboxed: true, cache: false },
      'a',
    )
    expect(added).toMatchObject({
      folders: ['tools', join(folder, 'a/extra')],
      strict: true,
      probe: { unsandboxed: true },
      cache: false,
      cwd: folder,
    })
  })

  test('is refused with place and meaning where something is wrong in it [6.config-errors]', async () => {
    expect(await refusal({ 'toolable.yaml': 'strict: true\nfoldres:\n  - tools\n' })).toMatch(
      /toolable\.yaml, line 2, column 1: unknown key 'foldres'; did you mean 'folders'\?$/,
    )
    expect(
      await refusal({ 'toolable.json': '{\n  "folders": [{"path": "a", "hlep": true}]\n}' }),
    ).toMatch(
      /toolable\.json, line 2, column 29: unknown key 'hlep' in 'folders\[0\]'; did you mean 'help'\?$/,
    )
    expect(await refusal({ 'toolable.yaml': 'mcpServers:\n  a:\n    comand: x\n' })).toMatch(
      /line 3, column 5: unknown key 'comand' in 'mcpServers\.a'; did you mean 'command'\?/,
    )
    expect(await refusal({ 'toolable.yaml': 'mcpServers:\n  a: {args: [x]}\n' })).toMatch(
      /line 2, column 3: the MCP server 'a' needs either 'command' \(a program\) or 'url'/,
    )
    expect(await refusal({ 'toolable.yaml': 'folders: tools\n' })).toMatch(
      /line 1, column 1: 'folders' must be a list; got "tools"$/,
    )
    expect(await refusal({ 'toolable.json': '{"folders": [}' })).toMatch(
      /is not JSON \(line 1, column 14\): unexpected "}"$/,
    )
    expect(await refusal({ 'toolable.json': '{"strict": true,\n "strict": false}' })).toMatch(
      /has the key 'strict' twice in one object \(line 2, column 2\)$/,
    )
    expect(await refusal({ 'toolable.yaml': 'strict: true\nstrict: false\n' })).toMatch(
      /toolable\.yaml, line 2: has the key 'strict' twice/,
    )
    expect(await refusal({ 'toolable.yaml': 'name: [\n' })).toMatch(
      /toolable\.yaml, line \d+: is not valid YAML/,
    )
    expect(await refusal({ 'toolable.json': '[]' })).toMatch(
      /'?the file'? must be an object; got a list$/,
    )
    expect(await refusal({ 'toolable.yaml': '', 'toolable.json': '{}' })).toMatch(
      /toolable\.yaml and .*toolable\.json are both there/,
    )
    expect(await refusal({ x: '' }, { config: 'nowhere.yaml' })).toBe(
      'the configuration nowhere.yaml does not exist',
    )
  })

  test('that grows when it is read is refused [6.config-errors]', async () => {
    const levels = Array.from(
      { length: 9 },
      (_, level) => `x${level + 1}: &x${level + 1} [${Array(9).fill(`*x${level}`).join(', ')}]`,
    )
    expect(await refusal({ 'toolable.yaml': ['x0: &x0 [1, 1]', ...levels].join('\n') })).toMatch(
      /toolable\.yaml.*(values|aliases)/,
    )
  })
})

describe('at the command line', () => {
  test('--config stands before or behind the command, and a wrong file is exit 78 [6.config-errors]', async () => {
    const folder = folderWith({ 'toolable.yaml': 'modles: []\n' })
    mkdirSync(join(folder, 'inside'))
    writeFileSync(join(folder, 'inside/good.yaml'), `modules: [${join(project, 'others.mjs')}]\n`)
    const [before, behind, wrong, missing] = await Promise.all([
      toolable(['--config', 'inside/good.yaml', 'list'], { cwd: folder }),
      toolable(['call', '--config=inside/good.yaml', 'greet'], { cwd: folder }),
      toolable(['list'], { cwd: folder }),
      toolable(['--folder', 'nowhere', 'list'], { cwd: join(folder, 'inside') }),
    ])
    expect(before.json.result.tools).toMatchObject([{ id: 'others.greet' }])
    expect(behind.json.result).toBe('Good day')
    expect(wrong).toMatchObject({
      status: 78,
      json: {
        error: {
          code: 'CONFIG',
          message: expect.stringContaining("did you mean 'modules'?"),
          details: { line: 1, column: 1 },
        },
      },
    })
    expect(missing).toMatchObject({ status: 78 })
  })
})
