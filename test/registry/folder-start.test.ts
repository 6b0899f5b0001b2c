import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fixture, makeFolder, runProgram } from '../support/run-program.ts'

const HEAVY =
  /node_modules\/(yaml|ajv|@modelcontextprotocol)\/|\/(ask-programs|probe[^/]*|judge|child-runner|run-child|mcp|warm|pool)-[\w-]+\.js$|^builtin:(crypto|child_process|http|https|net|tls|fs\/promises)$/

test('[6.folder-cache] a known folder is listed without YAML, probes, hashes or children', async () => {
  const folder = makeFolder()
  mkdirSync(join(folder, 'tools'))
  writeFileSync(
    join(folder, 'tools', 'a.sh'),
    `[ "$1" = '{"__test__": true}' ] && echo '{"success": true, "_simple": true}'`,
  )
  writeFileSync(
    join(folder, 'tools', 'b.yaml'),
    'name: b\ndescription: Does b\ncommand: bash\nentry: b.sh\n',
  )
  writeFileSync(join(folder, 'tools', 'b.sh'), 'echo "{}"')
  const load = async (): Promise<{
    readonly stdout: string
    readonly heavy: readonly string[]
  }> => {
    const file = join(makeFolder(), 'modules')
    const { status, stdout } = await runProgram(
      'list-folder.mjs',
      [join(folder, 'tools'), join(folder, 'cache')],
      {
        nodeArgs: ['--no-warnings', '--import', fixture('record-modules.mjs')],
        env: { MODULES_FILE: file },
      },
    )
    expect(status).toBe(0)
    return {
      stdout,
      heavy: readFileSync(file, 'utf8')
        .split('\n')
        .filter((url) => HEAVY.test(url)),
    }
  }
  const first = await load()
  expect(first.heavy).toEqual(
    expect.arrayContaining([
      expect.stringContaining('node_modules/yaml/'),
      'builtin:child_process',
      'builtin:crypto',
    ]),
  )
  expect(JSON.parse(first.stdout)).toEqual([
    ['tools.b', 'Does b'],
    ['tools.a', 'a'],
  ])
  // Files that were young when they were looked at are compared by their hash once.
  await load()
  expect(await load()).toEqual({ stdout: first.stdout, heavy: [] })
})
