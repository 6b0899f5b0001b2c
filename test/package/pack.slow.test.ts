import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'toolable-pack-'))
const project = join(folder, 'project')
let tarball = ''

const program = `import { tool, toolset } from 'toolable'
import { z } from 'zod'

const greet = tool({
  name: 'greet',
  summary: 'Greet somebody',
  input: z.object({ name: z.string().describe('Whom'), loud: z.boolean().default(false) }),
  run: ({ name, loud }) => ({ text: loud ? \`HELLO \${name}\` : \`Hello \${name}\` }),
})
await toolset(greet).run(import.meta)
`

beforeAll(() => {
  // No scripts: packing must not build again while other tests use dist/.
  expect(run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], root).status).toBe(
    0,
  )
  tarball = join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '')
  run('mkdir', ['-p', project], root)
  writeFileSync(
    join(project, 'package.json'),
    JSON.stringify({ name: 'project', private: true, type: 'module' }),
  )
  writeFileSync(join(project, 'greet.js'), program)
  const { version } = JSON.parse(
    readFileSync(join(root, 'node_modules/zod/package.json'), 'utf8'),
  ) as { version: string }
  const install = [
    'install',
    '--prefer-offline',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    tarball,
    `zod@${version}`,
  ]
  const { status, stderr } = run('npm', install, project)
  expect(status, stderr).toBe(0)
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the package as npm delivers it', () => {
  test('holds what is needed and nothing else', () => {
    const files = run('tar', ['-tzf', tarball], root)
      .stdout.split('\n')
      .filter((name) => name !== '')
    const stray = files.filter(
      (name) =>
        !/^package\/(dist\/.+\.(js|js\.map|d\.ts)|dist\/reach\.json|dist\/toolable\.cjs|dist\/toolable\.files\/[0-9a-f]{16}\.(bundle|cache|licences\.txt)|dist\/dashboard\/(index\.html|assets\/[\w-]+\.(css|svg))|docs\/.+\.md|schemas\/toolable\.(policy|workflow)\.schema\.json|emitters\/(python\/toolable\.py|sh\/toolable\.sh)|package\.json|README\.md|LICENSE|CHANGELOG\.md|SECURITY\.md)$/.test(
          name,
        ),
    )
    expect(stray).toEqual([])
    expect(files).toEqual(
      expect.arrayContaining([
        'package/dist/index.js',
        'package/dist/zod.js',
        'package/dist/bin.js',
        'package/dist/toolable.cjs',
        'package/dist/testing.js',
        'package/dist/types/testing/index.d.ts',
        'package/dist/types/index.d.ts',
        'package/dist/dashboard/index.html',
        'package/schemas/toolable.policy.schema.json',
        'package/schemas/toolable.workflow.schema.json',
        'package/LICENSE',
        'package/SECURITY.md',
      ]),
    )
  })

  test('brings the command toolable', () => {
    const { status, stdout } = run(
      join(project, 'node_modules/.bin/toolable'),
      ['list', '--problems', '-o', 'text'],
      project,
    )
    expect([status, stdout]).toEqual([0, 'no problems\n'])
  })

  test('a ten-line program prints its help', () => {
    const { status, stdout } = run(process.execPath, ['greet.js', '--help'], project)
    expect(status).toBe(0)
    expect(stdout).toContain('Greet somebody')
    expect(stdout).toContain('--[no-]loud')
  })

  test('a ten-line program answers a JSON call with one document', () => {
    const { status, stdout } = run(
      process.execPath,
      ['greet.js', '{"name":"Ada","loud":true}'],
      project,
    )
    expect(status).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      status: 'success',
      result: { text: 'HELLO Ada' },
    })
  })

  test('a ten-line program refuses a wrong call with exit 65', () => {
    const { status, stdout } = run(process.execPath, ['greet.js', '{"name":7}'], project)
    expect(status).toBe(65)
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      error: { code: 'INVALID_INPUT', field: 'name' },
    })
  })

  test('the types compile for a user with strict settings', () => {
    // The expected error proves that the types are there: with a type lost on the way anything
    // would compile.
    writeFileSync(
      join(project, 'greet.ts'),
      `${program}\n// @ts-expect-error a name is a string\nawait greet({ name: 7 })\n`,
    )
    const options = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--exactOptionalPropertyTypes',
      '--target',
      'es2022',
      '--module',
      'nodenext',
      '--types',
      'node',
      '--typeRoots',
      join(root, 'node_modules/@types'),
    ]
    const { status, stdout } = run(
      process.execPath,
      [join(root, 'node_modules/typescript/bin/tsc'), ...options, 'greet.ts'],
      project,
    )
    expect(stdout).toBe('')
    expect(status).toBe(0)
  })

  test('the test kit runs without a test runner, on the same code as the program', () => {
    const code =
      "import { toolset } from 'toolable'; import { runCli } from 'toolable/testing'; import { tool } from 'toolable'; const t = tool({ name: 't', summary: 'T', run: () => 7 }); const r = await runCli(toolset(t), ['t']); console.log(r.exitCode, r.outcome.result)"
    const { status, stdout } = run(process.execPath, ['--input-type=module', '-e', code], project)
    expect([status, stdout]).toEqual([0, '0 7\n'])
  })

  test('publint has nothing to say', () => {
    const { status, stdout } = run(
      process.execPath,
      [join(root, 'node_modules/publint/src/cli.js'), '--strict', tarball],
      root,
    )
    expect(stdout).toContain('All good!')
    expect(status).toBe(0)
  })

  test('are the types wrong? They are not', () => {
    const command = [
      join(root, 'node_modules/@arethetypeswrong/cli/dist/index.js'),
      tarball,
      '--profile',
      'esm-only',
      '--format',
      'json',
    ]
    const { status, stdout } = run(process.execPath, command, root)
    expect(status, stdout).toBe(0)
  })
})

function run(
  command: string,
  argv: readonly string[],
  cwd: string,
): { status: number | null; stdout: string; stderr: string } {
  // An npm that started this test hands its own settings down; the user's npm has only what tells
  // it the way to the registry.
  const wanted =
    /^(PATH|HOME|https?_proxy|no_proxy|npm_config_(registry|cache|cafile|userconfig))$/i
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => wanted.test(name)))
  const certificates = command === 'npm' ? process.env['EXTRA_CA_CERTS_FOR_NPM'] : undefined
  return spawnSync(command, argv, {
    cwd,
    env: {
      ...env,
      NODE_V8_COVERAGE: '',
      ...(certificates ? { NODE_EXTRA_CA_CERTS: certificates } : {}),
    },
    encoding: 'utf8',
    timeout: 170_000,
  })
}
