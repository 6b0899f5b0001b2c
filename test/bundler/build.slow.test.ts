import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bin, build, run } from '../support/build.ts'
import '../support/without-coverage.ts'
import { launch, makeFolder, sourceOf } from '../support/run-program.ts'
import type { Ended, RunOptions } from '../support/run-program.ts'

const folder = mkdtempSync(join(tmpdir(), 'toolable-test build-'))
const shop = join(folder, 'shop')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

// A shop from its sources is compiled by the test's own hook.
const hook = fileURLToPath(new URL('../setup/typescript-hook.mjs', import.meta.url))
const unbuilt = (args: readonly string[], options: RunOptions = {}): Promise<Ended> =>
  launch(process.execPath, ['--import', hook, sourceOf('build/shop.ts'), ...args], options).ended
const withoutTime = ({ status, stdout, stderr }: Ended): object => ({
  status,
  stdout: stdout.replace(/("?duration_ms"?: ?)\d+/g, (_all, key: string) => `${key}0`),
  stderr: stderr.replace(/\(node:\d+\).*\n.*\n/g, ''),
})

beforeAll(async () => {
  const built = await build('shop.ts', folder)
  expect(built.stdout).toContain('"ok":true')
}, 300_000)

const QUESTIONS = [
  [],
  ['--help'],
  ['-h'],
  ['--version'],
  ['--discover'],
  ['--tools'],
  ['--manifest'],
  ['order', '--help'],
  ['order', '--manifest'],
  ['pr', 'normal', '--help'],
  ['pr_normal', '--manifest'],
  ['remove', '-h'],
  ['__complete', '--', ''],
]

describe('a built program', () => {
  test('answers questions as its sources do, in the shell and in node [11.build-same] [11.build-shell]', async () => {
    // No node in PATH: what is answered, the shell has answered.
    const nowhere = { PATH: '/nonexistent' }
    for (const words of QUESTIONS) {
      const [wanted, shell, node, agentWanted, agent] = await Promise.all([
        unbuilt(words),
        run(shop, words, { env: nowhere }),
        run(process.execPath, [shop, ...words]),
        unbuilt(words, { env: { CLAUDECODE: '1' } }),
        run(shop, words, { env: { ...nowhere, CLAUDECODE: '1' } }),
      ])
      expect([words, withoutTime(shell)]).toEqual([words, withoutTime(wanted)])
      expect([words, withoutTime(node)]).toEqual([words, withoutTime(wanted)])
      expect([words, withoutTime(agent)]).toEqual([words, withoutTime(agentWanted)])
    }
  })

  test('calls, refuses and colours as its sources do [11.build-same] [11.build-zod]', async () => {
    const cases: [readonly string[], { readonly [name: string]: string }?][] = [
      [['order', '--item', 'hat', '--count', '2']],
      [['order', '{"sizes":["s"],"item":"hat"}']],
      [['order', '{"item":"","count":0.5,"siz":1}']],
      [['pr', 'normal', '{"name":" nobody "}']],
      [['remove', 'x']],
      [['nosuch']],
      [['--help'], { FORCE_COLOR: '1' }],
      [['--help'], { AI_AGENT: 'no' }],
      [['order', '{"item":"hat","at":{"price":1}}', '--output', 'yaml']],
    ]
    for (const [words, env = {}] of cases) {
      const [wanted, built] = await Promise.all([
        unbuilt(words, { env }),
        run(shop, words, { env }),
      ])
      expect([words, withoutTime(built)]).toEqual([
        words,
        JSON.parse(
          JSON.stringify(withoutTime(wanted))
            .replaceAll('\\"zod\\":true', '\\"zod\\":false')
            .replaceAll('zod: true', 'zod: false'),
        ),
      ])
    }
  })

  test('builds schemas of zod only where their JSON Schema cannot tell, and gives the same values [11.build-zod]', async () => {
    const [plain, ruled] = await Promise.all([
      run(shop, ['order', '{"at":{"price":3},"item":"hat"}']),
      run(shop, ['pr', 'normal', '--name', ' ada ']),
    ])
    expect(plain.json.result).toEqual({
      text: 'ordered hat',
      keys: ['item', 'count', 'sizes', 'at', 'price', 'rush'],
      zod: false,
    })
    expect(ruled.json.result).toEqual({ name: 'ADA', zod: true })
  })

  test('starts through a link, as `sh program`, in a folder of ES modules, and says when there is no node [11.build-same] [11.build-no-node]', async () => {
    symlinkSync(shop, join(folder, 'linked'))
    const modules = join(folder, 'modules')
    mkdirSync(modules)
    writeFileSync(join(modules, 'package.json'), '{"type":"module"}')
    cpSync(shop, join(modules, 'shop'))
    cpSync(`${shop}.files`, join(modules, 'shop.files'), { recursive: true })
    const call = ['order', '{"item":"hat"}']
    const ends = await Promise.all([
      run(join(folder, 'linked'), call),
      run('/bin/sh', [shop, ...call]),
      run('/bin/bash', [shop, ...call]),
      run(join(modules, 'shop'), call),
    ])
    for (const end of ends) expect([end.status, end.json.result.text]).toEqual([0, 'ordered hat'])
    const lost = await run(shop, call, { env: { PATH: '/nonexistent' } })
    expect([lost.status, lost.stdout, lost.stderr]).toEqual([
      127,
      '',
      "shop: needs Node.js 20.19 or newer, and there is no 'node' in PATH\n",
    ])
    cpSync(shop, join(folder, 'alone'))
    const alone = await run(join(folder, 'alone'), call)
    expect([alone.status, alone.stderr]).toEqual([
      78,
      expect.stringContaining('the two belong together'),
    ])
  })

  test('does without compiled code that it cannot use, and writes its own only into the cache of the user [11.build-cache]', async () => {
    const other = makeFolder()
    cpSync(shop, join(other, 'shop'))
    cpSync(`${shop}.files`, join(other, 'shop.files'), { recursive: true })
    const cache = join(
      other,
      'shop.files',
      readdirSync(join(other, 'shop.files')).find((name) => name.endsWith('.cache'))!,
    )
    const whole = readFileSync(cache)
    const garbled = Buffer.from(whole)
    garbled.fill(7, 4000, 60_000)
    const own = join(other, 'cache')
    for (const content of [
      whole.subarray(0, whole.length / 2),
      garbled,
      Buffer.from(whole.toString('latin1').replace(process.version, 'v99.0.0'), 'latin1'),
      Buffer.from('garbage'),
      undefined,
    ]) {
      if (content) writeFileSync(cache, content)
      else rmSync(cache)
      const [before, end] = [
        readdirSync(join(other, 'shop.files')),
        await run(join(other, 'shop'), ['order', '{"item":"hat"}'], {
          env: { XDG_CACHE_HOME: own },
        }),
      ]
      expect([end.status, end.json.result.text, end.stderr]).toEqual([0, 'ordered hat', ''])
      expect(readdirSync(join(other, 'shop.files'))).toEqual(before)
    }
    expect(
      readdirSync(join(own, 'toolable', 'code')).filter((name) => name.includes(process.version)),
    ).toHaveLength(1)
    // Nowhere to write is no reason to fail.
    const locked = await run(join(other, 'shop'), ['order', '{"item":"hat"}'], {
      env: { XDG_CACHE_HOME: '/proc/nowhere' },
    })
    expect([locked.status, locked.stderr]).toEqual([0, ''])
  })

  test('is listed and called by a registry that has not run it [11.build-registry]', async () => {
    const project = makeFolder()
    mkdirSync(join(project, 'tools'))
    cpSync(shop, join(project, 'tools', 'shop'))
    cpSync(`${shop}.files`, join(project, 'tools', 'shop.files'), { recursive: true })
    const listed = await launch(process.execPath, [bin, 'list', '--folder', 'tools', '--json'], {
      cwd: project,
    }).ended
    const tools = (listed.json.result.tools as { name: string; kind: string }[]).map(
      ({ name, kind }) => [name, kind],
    )
    expect(tools).toEqual([
      ['order', 'manifest in the file'],
      ['pr_normal', 'manifest in the file'],
      ['remove', 'manifest in the file'],
    ])
    const called = await launch(
      process.execPath,
      [bin, '--folder', 'tools', 'call', 'order', '{"item":"hat"}'],
      { cwd: project },
    ).ended
    expect(called.json.result.text).toBe('ordered hat')
  })
})

describe('an entry', () => {
  test('may export tools or plain functions, and is known by its manifest where node starts it at once [11.build-entries]', async () => {
    const out = makeFolder()
    const [tools, functions] = await Promise.all([
      build('exports-tools.mjs', out, '--name', 'tools', '--portable'),
      build('functions.ts', out, '--name', 'calc'),
    ])
    expect([tools.status, functions.status]).toEqual([0, 0])
    expect(readFileSync(join(out, 'tools'), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
    const [hello, help, sum] = await Promise.all([
      run(join(out, 'tools'), ['hello', '{}']),
      run(join(out, 'tools'), ['--help']),
      run(join(out, 'calc'), ['add', '2', '3']),
    ])
    expect([hello.json.result, sum.json.result]).toEqual(['hello', 5])
    expect(help.stdout).toContain('Say hello')
  })

  test('that says something else elsewhere is asked each time [11.build-frozen]', async () => {
    const out = makeFolder()
    const built = await build('depends-on-home.mjs', out)
    expect(built.json.result.warnings).toHaveLength(1)
    const help = await run(join(out, 'here'), ['--help'], { env: { HOME: '/some/where' } })
    expect(help.stdout).toContain('Work in /some/where')
  })

  test.each([
    ['nothing.mjs', 78, /nothing\.mjs has no function that can be a tool/],
    [
      'missing-import.mjs',
      78,
      /: \/.*missing-import\.mjs:1:8: Could not resolve "\.\/not-there\.mjs"/,
    ],
    ['broken-syntax.mjs', 78, /: \/.*broken-syntax\.mjs:\d+:\d+: Unexpected end of file/],
    ['throws.mjs', 78, /cannot be loaded: broken on purpose/],
    ['not-there.mjs', 66, /there is no file/],
  ])(
    '%s is refused, and what was built before stays [11.build-refused]',
    async (entry, status, message) => {
      const out = makeFolder()
      writeFileSync(join(out, 'program'), 'before')
      const end = await build(entry, out, '--name', 'program')
      expect([end.status, end.json.error.message]).toEqual([status, expect.stringMatching(message)])
      expect([readdirSync(out), readFileSync(join(out, 'program'), 'utf8')]).toEqual([
        ['program'],
        'before',
      ])
    },
  )
})

describe('what is written', () => {
  test('is whole when two build at once, and nothing is left where it cannot be written [11.build-whole] [11.build-refused]', async () => {
    const out = makeFolder()
    const both = await Promise.all([
      build('exports-tools.mjs', out, '--name', 'tools'),
      build('exports-tools.mjs', out, '--name', 'tools'),
    ])
    expect(both.map(({ status }) => status)).toEqual([0, 0])
    expect((await run(join(out, 'tools'), ['hello', '{}'])).json.result).toBe('hello')
    expect(readdirSync(out).filter((name) => name.endsWith('.tmp'))).toEqual([])
    expect(statSync(join(out, 'tools')).mode & 0o111).not.toBe(0)
    const file = join(out, 'a-file')
    writeFileSync(file, '')
    const refused = await build('exports-tools.mjs', join(file, 'inside'))
    expect([refused.status, refused.json.error.code]).toEqual([66, 'INVALID_PATH'])
  })
})
