import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { launch, makeFolder } from '../support/run-program.ts'
import type { Ended } from '../support/run-program.ts'
import '../support/without-coverage.ts'
import { fixtures, toolable } from './support.ts'

const dist = join(fixtures, '../../../dist')

describe('what was read is remembered', () => {
  test('a second start loads neither compiler nor transformer, and a change is seen [3.functions-cache] [3.functions-typescript]', async () => {
    const folder = project({ 'greets.ts': "export enum Tone { Low = 'low' }\nexport function greet(name: string, tone: Tone = Tone.Low): string { return `${name} ${tone}` }\n" })
    const cache = makeFolder()
    const start = async (args: readonly string[]): Promise<{ ended: Ended; required: string[] }> => {
      const file = join(makeFolder(), 'requires')
      writeFileSync(file, '')
      const ended = await toolable(args, { cwd: folder, env: { XDG_CACHE_HOME: cache, REQUIRES_FILE: file }, nodeArgs: ['--require', join(fixtures, 'record-requires.cjs')] })
      return { ended, required: readFileSync(file, 'utf8').split('\n').filter((name) => /^(typescript|esbuild)$/.test(name)) }
    }
    const first = await start(['./greets.ts', 'greet', 'Ada'])
    expect(first.ended.json).toMatchObject({ result: 'Ada low' })
    expect(new Set(first.required)).toEqual(new Set(['typescript', 'esbuild']))
    const second = await start(['./greets.ts', 'greet', 'Ada'])
    expect(second.ended.json).toMatchObject({ result: 'Ada low' })
    expect(second.required).toEqual([])

    // Broken caches are not trusted.
    for (const file of readdirSync(join(cache, 'toolable'))) writeFileSync(join(cache, 'toolable', file), readFileSync(join(cache, 'toolable', file), 'utf8').slice(0, -20), { mode: 0o600 })
    expect((await start(['./greets.ts', 'greet', 'Ada'])).ended.json).toMatchObject({ result: 'Ada low' })
    rmSync(cache, { recursive: true, force: true })

    writeFileSync(join(folder, 'greets.ts'), 'export function greet(name: string, times: number): string { return name.repeat(times) }\n')
    const both = await Promise.all([start(['./greets.ts', 'greet', 'a', '3']), start(['./greets.ts', 'greet', 'b', '2'])])
    expect(both.map(({ ended }) => ended.json.result)).toEqual(['aaa', 'bb'])
    expect(readdirSync(join(cache, 'toolable')).filter((name) => !/\.(json|js)$/.test(name))).toEqual([])
  })

  test('a change of a file that is imported is seen [3.functions-cache]', async () => {
    const folder = project({ 'size.ts': "export type Size = 'small'\n", 'tools.ts': "import type { Size } from './size.ts'\nexport function pick(size: Size): string { return size }\n" })
    expect((await toolable(['./tools.ts', 'pick', 'large'], { cwd: folder })).json).toMatchObject({ error: { code: 'INVALID_INPUT' } })
    writeFileSync(join(folder, 'size.ts'), "export type Size = 'small' | 'large'\n")
    expect((await toolable(['./tools.ts', 'pick', 'large'], { cwd: folder })).json).toMatchObject({ result: 'large' })
  })

  test('where no compiler is installed it is asked for by name [3.functions-compiler]', async () => {
    const folder = project({ 'tools.ts': 'export function pick(size: string): string { return size }\n' })
    const copy = join(folder, 'copy')
    mkdirSync(copy)
    cpSync(dist, join(copy, 'dist'), { recursive: true, filter: (file) => !/dashboard|types|\.map$/.test(file.slice(dist.length)) })
    writeFileSync(join(copy, 'package.json'), '{"name":"toolable","version":"0.1.0","type":"module"}')
    const { status, json } = await launch(process.execPath, [join(copy, 'dist/bin.js'), './tools.ts', '--help'], { cwd: folder, env: { XDG_CACHE_HOME: makeFolder() } }).ended
    expect(status).toBe(78)
    expect(json.error).toMatchObject({ code: 'CONFIG', message: expect.stringContaining('needs the package typescript'), suggestion: { fix: expect.stringContaining("npm install --save-dev 'typescript@") } })
    expect(existsSync(join(folder, 'node_modules'))).toBe(false)
  })
})

function project(files: { readonly [name: string]: string }): string {
  const folder = makeFolder()
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}
