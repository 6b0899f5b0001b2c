import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { launch, makeFolder } from '../support/run-program.ts'
import type { Ended } from '../support/run-program.ts'
import '../support/without-coverage.ts'
import { fixtures, toolable, writeProject } from './support.ts'

const dist = join(fixtures, '../../../dist')

describe('what was read is remembered', () => {
  test('a second start loads neither compiler nor transformer, and a change is seen [3.functions-cache] [3.functions-typescript]', async () => {
    const folder = writeProject({
      'greets.ts':
        "export enum Tone { Low = 'low' }\nexport function greet(name: string, tone: Tone = Tone.Low): string { return `${name} ${tone}` }\n",
    })
    const cache = makeFolder()
    const start = async (
      args: readonly string[],
    ): Promise<{ ended: Ended; required: string[] }> => {
      const file = join(makeFolder(), 'requires')
      writeFileSync(file, '')
      const ended = await toolable(args, {
        cwd: folder,
        env: { XDG_CACHE_HOME: cache, REQUIRES_FILE: file },
        nodeArgs: ['--require', join(fixtures, 'record-requires.cjs')],
      })
      return {
        ended,
        required: readFileSync(file, 'utf8')
          .split('\n')
          .filter((name) => /^(typescript|esbuild)$/.test(name)),
      }
    }
    const first = await start(['./greets.ts', 'greet', 'Ada'])
    expect(first.ended.json).toMatchObject({ result: 'Ada low' })
    expect(new Set(first.required)).toEqual(new Set(['typescript', 'esbuild']))
    const second = await start(['./greets.ts', 'greet', 'Ada'])
    expect(second.ended.json).toMatchObject({ result: 'Ada low' })
    expect(second.required).toEqual([])

    // Broken caches are not trusted.
    for (const file of readdirSync(join(cache, 'toolable')))
      writeFileSync(
        join(cache, 'toolable', file),
        readFileSync(join(cache, 'toolable', file), 'utf8').slice(0, -20),
        { mode: 0o600 },
      )
    expect((await start(['./greets.ts', 'greet', 'Ada'])).ended.json).toMatchObject({
      result: 'Ada low',
    })
    rmSync(cache, { recursive: true, force: true })

    writeFileSync(
      join(folder, 'greets.ts'),
      'export function greet(name: string, times: number): string { return name.repeat(times) }\n',
    )
    const both = await Promise.all([
      start(['./greets.ts', 'greet', 'a', '3']),
      start(['./greets.ts', 'greet', 'b', '2']),
    ])
    expect(both.map(({ ended }) => ended.json.result)).toEqual(['aaa', 'bb'])
    expect(
      readdirSync(join(cache, 'toolable')).filter((name) => !/\.(json|js)$/.test(name)),
    ).toEqual([])
  })

  test('a change of a file that is imported is seen [3.functions-cache]', async () => {
    const folder = writeProject({
      'size.ts': "export type Size = 'small'\n",
      'tools.ts':
        "import type { Size } from './size.ts'\nexport function pick(size: Size): string { return size }\n",
    })
    expect((await toolable(['./tools.ts', 'pick', 'large'], { cwd: folder })).json).toMatchObject({
      error: { code: 'INVALID_INPUT' },
    })
    writeFileSync(join(folder, 'size.ts'), "export type Size = 'small' | 'large'\n")
    expect((await toolable(['./tools.ts', 'pick', 'large'], { cwd: folder })).json).toMatchObject({
      result: 'large',
    })
  })

  test('what it was read by is seen too: package.json, what a tsconfig.json extends, and what is not there yet; a symbolic link is followed [3.functions-cache]', async () => {
    const folder = writeProject({
      'package.json': '{"name":"changes","version":"1.0.0","type":"module"}',
      'tsconfig.json': '{"extends":"./base.json"}',
      'base.json':
        '{"compilerOptions":{"paths":{"size":["./sizes/small.ts"]},"module":"esnext","moduleResolution":"bundler"}}',
      'sizes/small.ts': "export type Size = 'small'\n",
      'sizes/large.ts': "export type Size = 'large'\n",
      'real/tools.ts':
        "import type { Size } from 'size'\nexport function pick(size: Size): string { return size }\n",
    })
    symlinkSync(join(folder, 'real/tools.ts'), join(folder, 'linked.ts'))
    const pick = (size: string) => toolable(['./linked.ts', 'pick', size], { cwd: folder })
    expect((await pick('small')).json).toMatchObject({
      result: 'small',
      meta: { version: '1.0.0' },
    })
    writeFileSync(
      join(folder, 'package.json'),
      '{"name":"changes","version":"1.1.0","type":"module"}',
    )
    writeFileSync(
      join(folder, 'base.json'),
      readFileSync(join(folder, 'base.json'), 'utf8').replace('small', 'large'),
    )
    expect((await pick('large')).json).toMatchObject({
      result: 'large',
      meta: { version: '1.1.0' },
    })
    // As long as an import leads nowhere, nothing is remembered.
    rmSync(join(folder, 'sizes/large.ts'))
    expect((await pick('large')).json).toMatchObject({
      error: {
        code: 'CONFIG',
        message: `${join(folder, 'linked.ts')}:2: 'pick': the parameter 'size' cannot be given: its type cannot be found. Declare or import the type that it names, and see that the import leads to a file`,
      },
    })
    writeFileSync(join(folder, 'sizes/large.ts'), "export type Size = 'huge'\n")
    expect((await pick('huge')).json).toMatchObject({ result: 'huge' })
  })

  test('a cache that cannot be written, or is none, does no harm [3.functions-cache]', async () => {
    const folder = writeProject({
      'tools.ts': 'export function pick(size: string): string { return size }\n',
      'cache/toolable': 'a file',
    })
    for (const cache of [join(folder, 'cache'), '/dev/full'])
      expect(
        (
          await toolable(['./tools.ts', 'pick', 'a'], {
            cwd: folder,
            env: { XDG_CACHE_HOME: cache },
          })
        ).json,
      ).toMatchObject({ result: 'a' })
    expect(readFileSync(join(folder, 'cache/toolable'), 'utf8')).toBe('a file')
  })

  test('without esbuild the compiler makes JavaScript, with file and line for what is no TypeScript [3.functions-compiler] [3.functions-typescript]', async () => {
    const folder = writeProject({
      'package.json': '{"name":"without","type":"module"}',
      'tools.ts':
        "import { Kind } from './kind.js'\nenum Level { Low, High }\nexport function see(level: Level): string { return `${level}${Kind.A}` }\n",
      'kind.ts': "export enum Kind { A = 'a' }\n",
      'wrong.ts': "import './broken.ts'\nexport function see(): number { return 1 }\n",
      'broken.ts': '\nconst value: number = = 3\n',
      'copy/package.json': '{"name":"toolable","version":"0.1.0","type":"module"}',
    })
    cpSync(dist, join(folder, 'copy/dist'), {
      recursive: true,
      filter: (file) => !/^\/?(dashboard|types)(\/|$)|\.map$/.test(file.slice(dist.length)),
    })
    const { dependencies } = JSON.parse(readFileSync(join(dist, '../package.json'), 'utf8')) as {
      dependencies: object
    }
    for (const name of [...Object.keys(dependencies), 'typescript']) {
      mkdirSync(join(folder, 'node_modules', name, '..'), { recursive: true })
      symlinkSync(join(dist, '../node_modules', name), join(folder, 'node_modules', name))
    }
    const run = (...args: string[]) =>
      launch(process.execPath, [join(folder, 'copy/dist/bin.js'), ...args], {
        cwd: folder,
        env: { XDG_CACHE_HOME: join(folder, 'cache') },
      }).ended
    expect((await run('./tools.ts', 'see', 'High')).json).toMatchObject({ result: '1a' })
    expect((await run('./wrong.ts', 'see')).json).toMatchObject({
      error: {
        code: 'INVALID_INPUT',
        message: `${join(folder, 'broken.ts')}:2: Expression expected.`,
      },
    })
  })

  test('where no compiler is installed it is asked for by name [3.functions-compiler]', async () => {
    const folder = writeProject({
      'tools.ts': 'export function pick(size: string): string { return size }\n',
    })
    const copy = join(folder, 'copy')
    mkdirSync(copy)
    cpSync(dist, join(copy, 'dist'), {
      recursive: true,
      filter: (file) => !/^\/?(dashboard|types)(\/|$)|\.map$/.test(file.slice(dist.length)),
    })
    writeFileSync(
      join(copy, 'package.json'),
      '{"name":"toolable","version":"0.1.0","type":"module"}',
    )
    const { status, json } = await launch(
      process.execPath,
      [join(copy, 'dist/bin.js'), './tools.ts', '--help'],
      { cwd: folder, env: { XDG_CACHE_HOME: makeFolder() } },
    ).ended
    expect(status).toBe(78)
    expect(json.error).toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining('needs the package typescript'),
      suggestion: { fix: expect.stringContaining("npm install --save-dev 'typescript@") },
    })
    expect(existsSync(join(folder, 'node_modules'))).toBe(false)
  })
})
