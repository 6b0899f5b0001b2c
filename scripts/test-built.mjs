// `node scripts/test-built.mjs [vitest arguments]`: the tests of the command line again, against
// programs built from the same fixtures.
// Part of `npm run test:slow`: it proves that a built program behaves like its sources.
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runTests } from './run-tests.mjs'

// Those that can be built; the others are wrong on purpose.
const FIXTURES = [
  'workbench',
  'talks',
  'takes-its-time',
  'kept-warm',
  'only-tool',
  'misbehaves',
  'documented',
  'shows-pictures',
  'parity',
  'serves-dinner',
  'prints-late',
  'counts-calls',
  'prints-too-much',
  'prints-before-it-runs',
]
const TESTS = ['test/cli', 'test/parity', 'test/protocol/dialects.test.ts', 'test/docs']
// These call functions in this process, so that a built program makes no difference.
const IN_PROCESS = [
  'test/cli/{completion,help,json,output}/**',
  'test/cli/{frame,heartbeat}.test.ts',
  'test/docs/kinds/**',
]

/**
 * Builds the fixtures and runs these tests against them; returns how many tests passed and failed.
 */
export async function testBuiltPrograms(tests = TESTS) {
  const folder = mkdtempSync(join(tmpdir(), 'toolable-built-'))
  try {
    await buildFixtures(folder)
    const excluded = IN_PROCESS.flatMap((pattern) => ['--exclude', pattern])
    return await runTests('built programs', [...tests, ...excluded], {
      environment: { BUILT_PROGRAMS: folder, TYPES_ARE_CHECKED: 'yes' },
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function buildFixtures(folder) {
  mkdirSync(join(folder, 'home'))
  // Not in a folder of modules: there a file without extension would be one.
  writeFileSync(join(folder, 'package.json'), '{"type":"commonjs"}')
  const env = { PATH: process.env.PATH, HOME: join(folder, 'home') }
  const left = [...FIXTURES]
  await Promise.all(
    Array.from({ length: availableParallelism() }, async () => {
      for (let name; (name = left.shift()) !== undefined;) await build(name, folder, env)
    }),
  )
  // What lies beside an entry lies beside its program.
  cpSync('test/fixtures/prints-and-ends.mjs', join(folder, 'prints-and-ends.mjs'))
}

function build(name, folder, env) {
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      ['dist/bin.js', 'build', `test/fixtures/${name}.mjs`, '--out', folder, '--name', name],
      { env },
      (error, stdout, stderr) => {
        if (error)
          reject(new Error(`${name} could not be built (${error.code}):\n${stdout}${stderr}`))
        else resolve()
      },
    )
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.chdir(fileURLToPath(new URL('..', import.meta.url)))
  const { failed } = await testBuiltPrograms(
    process.argv.length > 2 ? process.argv.slice(2) : TESTS,
  )
  process.exitCode = failed === 0 ? 0 : 1
}
