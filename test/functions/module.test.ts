import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { registry, toolset } from 'toolable'
import { describe, expect, test } from 'vitest'
import { launch, makeFolder } from '../support/run-program.ts'
import '../support/without-coverage.ts'
import { cache, fixtures, toolable } from './support.ts'

process.env['XDG_CACHE_HOME'] = cache

describe('toolset({ module })', () => {
  test('a module makes a program of its own functions, and does not wait for itself [3.functions-toolset]', async () => {
    const run = (...args: string[]) =>
      launch(process.execPath, [join(fixtures, 'own.mjs'), ...args], {
        env: { XDG_CACHE_HOME: cache },
      }).ended
    expect((await run('double', '4')).json).toMatchObject({
      ok: true,
      result: 8,
      meta: { tool: 'own.double', version: '3.0.0' },
    })
    expect((await run('--version')).stdout).toBe('3.0.0\n')
  })

  test('another module, besides tools of this one; errors name the lines of the source [3.functions-toolset] [3.functions-typescript]', async () => {
    const set = await toolset({ module: join(fixtures, 'tools.ts'), name: 'several' })
    expect(set.find('sum')).toBeDefined()
    expect(await set.call('sum', { numbers: [1, 2] })).toMatchObject({ ok: true, result: 3 })
    const script = join(makeFolder(), 'calls.mjs')
    writeFileSync(
      script,
      `import { toolset } from ${JSON.stringify(import.meta.resolve('toolable'))}
      const set = await toolset({ module: ${JSON.stringify(join(fixtures, 'tools.ts'))} })
      const tool = set.find('breaks').definition
      try { await tool.run({}, {}) } catch (error) { console.log(error.stack) }`,
    )
    expect(
      (await launch(process.execPath, [script], { env: { XDG_CACHE_HOME: cache } }).ended).stdout,
    ).toContain('tools.ts:89:9')
  })

  test('a module without functions is refused [3.functions-toolset]', async () => {
    await expect(toolset({ module: join(fixtures, 'nothing.ts') })).rejects.toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining('has no function that can be a tool'),
    })
    await expect(toolset({ module: join(fixtures, 'nowhere.ts') })).rejects.toMatchObject({
      code: 'INVALID_PATH',
    })
  })
})

describe('modules of a registry', () => {
  test('plain functions are tools where a module exports no others, unless it is told so [3.functions-registry]', async () => {
    const folder = makeFolder()
    writeFileSync(
      join(folder, 'mixed.mjs'),
      `import { tool } from ${JSON.stringify(import.meta.resolve('toolable'))}
      export const made = tool({ name: 'made', summary: 'Made', run: () => 'made' })
      /** @param {string} name */
      export function plain(name) { return name }\n`,
    )
    const only = await registry({ cwd: folder, modules: ['mixed.mjs'] })
    expect(only.list().map(({ id }) => id)).toEqual(['mixed.made'])
    const both = await registry({
      cwd: folder,
      modules: [
        { path: 'mixed.mjs', functions: true },
        { path: join(fixtures, 'tools.ts'), name: 'files' },
      ],
    })
    expect(both.list().map(({ id }) => id)).toEqual(
      expect.arrayContaining(['mixed.made', 'mixed.plain', 'files.find_files', 'files.greet']),
    )
    expect(await both.call('plain', { name: 'a' })).toMatchObject({ ok: true, result: 'a' })
    expect(await both.call('files.greet', { name: 'Ada' })).toMatchObject({
      ok: true,
      result: 'hello Ada',
      meta: { tool: 'files.greet' },
    })
    expect(both.problems()).toContainEqual(
      expect.objectContaining({
        source: 'files',
        reason: 'callback',
        location: `${join(fixtures, 'tools.ts')}:96`,
        severity: 'error',
      }),
    )
    await Promise.all([only.close(), both.close()])
  })

  test('toolable.yaml names modules and packages [3.functions-registry]', async () => {
    const folder = makeFolder()
    writeFileSync(
      join(folder, 'toolable.yaml'),
      `modules:\n  - path: ${JSON.stringify(join(fixtures, 'tools.ts'))}\n    functions: true\n`,
    )
    const { json } = await toolable(['list', '--problems'], { cwd: folder })
    expect(JSON.stringify(json.result)).toContain('callback')
    expect(
      (await toolable(['call', 'sum', '--numbers', '1', '--numbers', '5'], { cwd: folder })).json,
    ).toMatchObject({ result: 6 })
  })
})
