import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'esbuild'
import { describe, expect, test } from 'vitest'
import { launch, makeFolder, sourceOf } from '../support/run-program.ts'
import type { Running } from '../support/run-program.ts'
import { TOOLABLE_IN_MODULES } from '../support/toolable-program.ts'
import '../support/without-coverage.ts'

/** What a start loads: our modules and their bytes, npm packages, built-in modules of Node. */
type Loaded = {
  readonly modules: number
  readonly bytes: number
  readonly packages: readonly string[]
  readonly builtins: readonly string[]
}

type StartPath = {
  readonly args: readonly string[]
  /** Sent one at a time, each after the answer to the one before. */
  readonly messages?: readonly object[]
  /** Where it starts; default: an empty folder. */
  readonly place?: 'repository' | 'project'
  /** Measures a second start, which finds what the first one cached. */
  readonly isSecond?: boolean
}

const PINS_FILE = fileURLToPath(new URL('start-paths.json', import.meta.url))
const DIST = new URL('../../dist/', import.meta.url).href
const UPDATE = 'UPDATE_START_PATHS=1 npx vitest run test/pins/start-paths.test.ts'
// Longer texts are not what this test is about; another module loaded at start is.
const BYTES_ALLOWANCE = 0.02

const program = sourceOf('workbench.mjs')
const toolable = sourceOf(TOOLABLE_IN_MODULES)
// Inside the repository the name 'toolable' means the package itself.
const repository = fileURLToPath(new URL('..', DIST))
const request = (id: number, method: string, params: object): object => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})
const initialize = request(1, 'initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'pins', version: '1.0.0' },
})
const listTools = request(2, 'tools/list', {})
const callTool = request(3, 'tools/call', { name: 'echo', arguments: { text: 'a' } })

const START_PATHS: { readonly [name: string]: StartPath } = {
  "import 'toolable'": {
    args: ['--input-type=module', '--eval', "import 'toolable'"],
    place: 'repository',
  },
  'program --help': { args: [program, '--help'] },
  'program tool --help': { args: [program, 'echo', '--help'] },
  'program --discover': { args: [program, '--discover'] },
  'program tool, text output': { args: [program, 'echo', 'a', '-o', 'text'] },
  'program tool, JSON input and output': { args: [program, 'echo', '{"text":"a"}'] },
  'program tool, flags, --json': { args: [program, 'echo', 'a', '--count', '3', '--json'] },
  'program --serve-mcp stdio, tools/list': {
    args: [program, '--serve-mcp', 'stdio'],
    messages: [initialize, listTools],
  },
  'program --serve-mcp stdio, tools/list and tools/call': {
    args: [program, '--serve-mcp', 'stdio'],
    messages: [initialize, listTools, callTool],
  },
  'toolable --help': { args: [toolable, '--help'] },
  'toolable list, no project': { args: [toolable, 'list'] },
  'toolable list, first start': { args: [toolable, 'list'], place: 'project' },
  'toolable list, second start': { args: [toolable, 'list'], place: 'project', isSecond: true },
  'toolable call, second start': {
    args: [toolable, 'call', 'hello', '--name', 'Ada'],
    place: 'project',
    isSecond: true,
  },
}

const isUpdate = process.env['UPDATE_START_PATHS'] !== undefined
const pins = readPins()

describe('what a start loads', () => {
  test.each(Object.entries(START_PATHS))('%s', async (name, path) => {
    const loaded = await measure(path)
    expect(loaded.modules).toBeGreaterThan(1)
    if (isUpdate) return writePin(name, loaded)
    const pinned = pins[name]
    expect(pinned, `no pin for '${name}' in ${PINS_FILE}. To add it: ${UPDATE}`).toBeDefined()
    expect(findGrowth(pinned!, loaded), explain(name)).toEqual([])
  })

  test('the built toolable: the program and the part of its bundle that every start reads', () => {
    const name = 'toolable.cjs'
    const loaded = measureBuilt()
    if (isUpdate) return writePin(name, loaded)
    expect(findGrowth(pins[name]!, loaded), explain(name)).toEqual([])
  })
})

async function measure({ args, messages, place, isSecond }: StartPath): Promise<Loaded> {
  const folder = makeFolder()
  if (place === 'project') writeProject(folder)
  const start = async (file: string): Promise<void> => {
    const nodeArgs = ['--no-warnings', '--import', sourceOf('record-modules.mjs')]
    const started = launch(process.execPath, [...nodeArgs, ...args], {
      cwd: place === 'repository' ? repository : folder,
      env: { HOME: folder, XDG_STATE_HOME: folder, XDG_CONFIG_HOME: folder, MODULES_FILE: file },
      ...(messages && { input: 'open' as const }),
    })
    if (messages) await talk(started, messages)
    const { status, stdout, stderr } = await started.ended
    expect({ status, stdout, stderr }).toMatchObject({ status: 0 })
  }
  if (isSecond) await start(join(folder, 'first'))
  const file = join(folder, 'modules')
  await start(file)
  return summarize(new Set(readFileSync(file, 'utf8').split('\n')))
}

/** A project with one tool, which is a script. */
function writeProject(folder: string): void {
  const manifest = {
    name: 'hello',
    summary: 'Greet a person',
    input: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  }
  const script = `#!/bin/sh\n# toolable: ${JSON.stringify(manifest)}\necho '{"text":"Hello"}'\n`
  mkdirSync(join(folder, 'tools'))
  writeFileSync(join(folder, 'toolable.yaml'), 'folders: [./tools]\n')
  writeFileSync(join(folder, 'tools/hello.sh'), script, { mode: 0o755 })
}

async function talk(started: Running, messages: readonly object[]): Promise<void> {
  for (const message of messages) {
    started.write(`${JSON.stringify(message)}\n`)
    const { id } = message as { id: number }
    await started.said(`"id":${id}`)
  }
  started.closeStdin()
}

function summarize(urls: ReadonlySet<string>): Loaded {
  const ours = [...urls].filter((url) => url.startsWith(DIST))
  const packages = [...urls].flatMap(
    (url) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? [],
  )
  // Internal modules of Node differ between its versions.
  const builtins = [...urls]
    .flatMap((url) => /^(?:builtin|node):(.*)$/.exec(url)?.[1] ?? [])
    .filter((name) => isBuiltin(name) && !/^_|^internal\//.test(name))
  return {
    modules: ours.length,
    bytes: ours.reduce((sum, url) => sum + measureCode(new URL(url)), 0),
    packages: [...new Set(packages)].sort(),
    builtins: [...new Set(builtins)].sort(),
  }
}

/** The bytes of a module with short names, so that only more code counts as growth. */
function measureCode(url: URL): number {
  return transformSync(readFileSync(url, 'utf8'), { minify: true, format: 'esm' }).code.length
}

/** The launcher at the end of the program names its bundle and how much of it every start reads. */
function measureBuilt(): Loaded {
  const text = readFileSync(new URL('toolable.cjs', DIST), 'latin1')
  const [, length] = /\)\("[0-9a-f]{16}",(\d+),\d+,"/.exec(text.slice(-2000)) ?? []
  expect(length, 'toolable.cjs has no launcher at its end').toBeDefined()
  return { modules: 2, bytes: text.length + Number(length), packages: [], builtins: [] }
}

function findGrowth(pinned: Loaded, loaded: Loaded): string[] {
  const growth: string[] = []
  if (loaded.modules > pinned.modules) {
    growth.push(`modules: ${pinned.modules} -> ${loaded.modules}`)
  }
  if (loaded.bytes > pinned.bytes * (1 + BYTES_ALLOWANCE)) {
    const percent = ((loaded.bytes / pinned.bytes - 1) * 100).toFixed(1)
    growth.push(`bytes: ${pinned.bytes} -> ${loaded.bytes} (+${percent} %)`)
  }
  for (const kind of ['packages', 'builtins'] as const) {
    const added = loaded[kind].filter((name) => !pinned[kind].includes(name))
    if (added.length > 0) growth.push(`${kind} not loaded before: ${added.join(', ')}`)
  }
  return growth
}

function explain(name: string): string {
  return (
    `'${name}' loads more than the pin in test/pins/start-paths.json allows. ` +
    `Load the new code lazily with import(); if the growth is intended, run ${UPDATE}`
  )
}

function readPins(): { [name: string]: Loaded } {
  return existsSync(PINS_FILE) ? JSON.parse(readFileSync(PINS_FILE, 'utf8')) : {}
}

function writePin(name: string, loaded: Loaded): void {
  const text = JSON.stringify({ ...readPins(), [name]: loaded }, null, 2)
  const lists = /\[\s+([^\]]*?)\s+\]/g
  const compact = text.replace(lists, (_all, items) => `[${items.replace(/\s*\n\s*/g, ' ')}]`)
  writeFileSync(PINS_FILE, `${compact}\n`)
}
