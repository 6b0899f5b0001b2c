import {
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { newerNode } from '../../scripts/conformance/newer-node.mjs'
import { bin, build, run } from '../support/build.ts'
import { launch, makeFolder, sourceOf } from '../support/run-program.ts'
import type { Ended } from '../support/run-program.ts'
import '../support/without-coverage.ts'

const out = makeFolder()
const shop = join(out, 'shop')
const CALL = ['order', '{"item":"hat"}']
const said = ({ status, stdout, stderr }: Ended): unknown => [
  status,
  stdout === '' ? '' : JSON.parse(stdout).result?.text,
  stderr,
]
const ORDERED = [0, 'ordered hat', '']

beforeAll(async () => {
  const [plain, native] = await Promise.all([
    build('shop.ts', out),
    build('uses-native.mjs', out, '--external', 'lightningcss'),
  ])
  expect([plain.status, native.status]).toEqual([0, 0])
}, 300_000)

/** The program of a name, and what belongs to it, in a folder of its own. */
function copied(name: string, folder = makeFolder()): string {
  mkdirSync(folder, { recursive: true })
  cpSync(join(out, name), join(folder, name))
  cpSync(join(out, `${name}.files`), join(folder, `${name}.files`), { recursive: true })
  return join(folder, name)
}

function fileOf(program: string, end: string): string {
  return join(
    `${program}.files`,
    readdirSync(`${program}.files`).find((name) => name.endsWith(end))!,
  )
}

describe('a built program runs', () => {
  test.each([
    'dash',
    'bash',
    'bash --posix',
    'zsh --emulate sh',
    'zsh',
    'busybox ash',
    'busybox sh',
  ])('in %s [11.build-shells]', async (shell) => {
    const [command, ...args] = shell.split(' ') as [string, ...string[]]
    const [help, wanted, discovered, called, odd] = await Promise.all([
      run(command, [...args, shop, '--help']),
      run(process.execPath, [shop, '--help']),
      run(command, [...args, shop, '--discover']),
      run(command, [...args, shop, ...CALL]),
      run(command, [...args, shop, 'order', '--item', '*  $HOME "\' \\n'], {}),
    ])
    expect([help.stdout, help.stderr]).toEqual([wanted.stdout, ''])
    expect(discovered.json.name).toBe('shop')
    expect([said(called), odd.json.result.text]).toEqual([ORDERED, 'ordered *  $HOME "\' \\n'])
  })

  test('over links, from paths with spaces and other letters, and without a home [11.build-same]', async () => {
    const odd = copied('shop', join(makeFolder(), 'a folder, ünïcödé 店 $HOME'))
    const link = join(makeFolder(), 'over')
    symlinkSync(odd, `${link}-once`)
    symlinkSync('over-once', `${link}-twice`)
    const ends = await Promise.all([
      run(odd, CALL),
      run(`${link}-twice`, CALL),
      run('./shop', CALL, { cwd: join(odd, '..') }),
      run('/usr/bin/env', ['-i', `PATH=${process.env['PATH']}`, odd, ...CALL]),
      run(odd, ['--version']),
    ])
    expect(ends.slice(0, 4).map(said)).toEqual([ORDERED, ORDERED, ORDERED, ORDERED])
    expect(ends[4].stdout).toBe('2.1.0\n')
  })

  test('from a folder that may only be read, and writes nothing there [11.build-cache]', async () => {
    const program = copied('shop')
    const place = makeFolder()
    const mount = `mount --bind "${join(program, '..')}" "${place}" && mount -o remount,bind,ro "${place}" && rm -f "${fileOf(program, '.cache')}" && exec "$@"`
    const end = await launch(
      'unshare',
      ['-Urm', '/bin/sh', '-c', mount, 'sh', join(place, 'shop'), ...CALL],
      { env: { XDG_CACHE_HOME: place } },
    ).ended
    expect(said(end)).toEqual(ORDERED)
  })

  test('with another version of node, which keeps code of its own and finds it again [11.build-cache]', async () => {
    const cache = makeFolder()
    // The tests bring a newer node where there is one for the platform.
    const start = (): Promise<Ended> =>
      run(newerNode, [shop, ...CALL], { env: { XDG_CACHE_HOME: cache } })
    const { version } = JSON.parse(
      (await run(newerNode, ['-p', 'JSON.stringify(process)'])).stdout,
    ) as { version: string }
    expect(version).not.toBe(process.version)
    expect(said(await start())).toEqual(ORDERED)
    const folder = join(cache, 'toolable', 'code')
    const [kept, ...more] = readdirSync(folder)
    expect([kept, more]).toEqual([expect.stringContaining(version), []])
    const { ino, mode } = statSync(join(folder, kept!))
    expect(mode & 0o777).toBe(0o600)
    expect(said(await start())).toEqual(ORDERED)
    expect(statSync(join(folder, kept!)).ino).toBe(ino)
    // Garbage in the place of its own code is written anew.
    writeFileSync(join(folder, kept!), readFileSync(join(folder, kept!)).fill(0, 5000))
    expect(said(await start())).toEqual(ORDERED)
    expect(statSync(join(folder, kept!)).ino).not.toBe(ino)
  })

  test('or says which of its files is cut off or may not be read [11.build-cut-off]', async () => {
    const cut = copied('shop')
    const bundle = fileOf(cut, '.bundle')
    const { size } = statSync(bundle)
    for (const length of [size - 1, Math.floor(size * 0.9), Math.floor(size / 20), 10, 0]) {
      truncateSync(bundle, length)
      const end = await run(cut, CALL)
      expect([length, end.status, end.stdout, end.stderr]).toEqual([
        length,
        78,
        '',
        `${cut}: ${bundle} cannot be read (it is cut off); the two belong together: copy both, or build again\n`,
      ])
    }
    // What the shell knows it knows all the same.
    expect((await run(cut, ['--version'])).stdout).toBe('2.1.0\n')
  })
})

describe('a package outside of the bundle', () => {
  test('with native code is asked for, found beside the program, and named where it is missing [11.build-external]', async () => {
    const entry = makeFolder()
    writeFileSync(join(entry, 'addon.node'), '')
    writeFileSync(join(entry, 'entry.mjs'), "import './addon.node'\n")
    const refused = await run(process.execPath, [
      bin,
      'build',
      join(entry, 'entry.mjs'),
      '--out',
      entry,
    ])
    expect([refused.status, refused.json.error.suggestion.fix]).toEqual([
      78,
      expect.stringContaining('--external'),
    ])
    const program = copied('native')
    const missing = await run(program, ['{"css":"a { color: red }"}'])
    expect([missing.status, missing.stdout, missing.stderr]).toEqual([
      69,
      '',
      `${program}: Cannot find package 'lightningcss', which stays outside of this program; install it beside the program: npm install lightningcss\n`,
    ])
    mkdirSync(join(program, '../node_modules'))
    for (const name of readdirSync(root('node_modules')).filter((each) =>
      /^(lightningcss|detect-libc)/.test(each),
    ))
      symlinkSync(root(`node_modules/${name}`), join(program, '../node_modules', name))
    expect((await run(program, ['{"css":"a { color: red }"}'])).json.result).toBe('a{color:red}')
  })
})

describe('a call of a built program', () => {
  test('runs one script of compiled code, and loads no module of node that it does not need [11.build-lazy]', async () => {
    const place = makeFolder()
    const loaded = async (
      name: string,
      ...args: string[]
    ): Promise<{ modules: string[]; scripts: { file: string; cached: boolean }[] }> => {
      const file = join(place, name)
      const end = await run(shop, args, {
        env: {
          LOADED: file,
          NODE_OPTIONS: `--require ${sourceOf('build/tells-what-was-loaded.cjs')}`,
        },
      })
      expect([name, end.status]).toEqual([name, 0])
      return JSON.parse(readFileSync(file, 'utf8'))
    }
    const [json, flags, zod, yaml, docs] = await Promise.all([
      loaded('json', ...CALL),
      loaded('flags', 'order', '--item', 'hat'),
      loaded('zod', 'pr', 'normal', '{"name":"ada"}'),
      loaded('yaml', ...CALL, '--output', 'yaml'),
      loaded('docs', 'docs', 'markdown'),
    ])
    for (const { modules, scripts } of [json, flags]) {
      expect(scripts).toEqual([{ file: expect.stringMatching(/\.bundle$/), cached: true }])
      expect(
        modules.filter((name) =>
          /^(crypto|child_process|http|https|net|tls|dns|zlib|readline|worker_threads|stream|inspector)$/.test(
            name,
          ),
        ),
      ).toEqual([])
    }
    // The hook sees what is there to be seen: zod, YAML and documents are scripts of their own.
    for (const { scripts } of [zod, yaml, docs]) expect(scripts.length).toBeGreaterThan(1)
    expect(zod.scripts.map(({ file }) => file).join(' ')).toContain('/zod.js')
  })
})

function root(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url))
}
