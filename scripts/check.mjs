// `npm test`: type check and lint side by side, then all tests with coverage. The first failure decides the exit code.
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { rawFolder, reportCoverage } from './coverage.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
// Vitest colours what it writes into a pipe too, and whoever reads a pipe wants words.
if (!process.stdout.isTTY) process.env.NO_COLOR = '1'
const bin = (path) => [process.execPath, [`node_modules/${path}`]]

const [types, lint] = await Promise.all([
  checkAllTypes(),
  runStep('eslint', bin('eslint/bin/eslint.js'), ['.', '--max-warnings', '0']),
])
if (types !== 0 || lint !== 0) process.exit(1)

rmSync('coverage', { recursive: true, force: true })
const tests = await runStep('vitest', bin('vitest/vitest.mjs'), ['run'], { NODE_V8_COVERAGE: rawFolder })
if (tests !== 0) process.exit(1)

// A built program behaves like its sources: the same tests, without coverage.
const built = await runStep('vitest of built programs', [process.execPath, ['scripts/test-built.mjs']], [])
if (built !== 0) process.exit(1)

const covered = await reportCoverage((name, argv) => runStep(name, bin('c8/bin/c8.js'), argv))
process.exit(covered === 0 ? 0 : 1)

// The browser app and its tests know the page, and nothing else does.
async function checkAllTypes() {
  for (const [name, project] of [['tsc', 'tsconfig.json'], ['tsc of the examples', 'examples/tsconfig.json'], ['tsc of the dashboard', 'dashboard/tsconfig.json'], ['tsc of its tests', 'test/dashboard/tsconfig.json']]) {
    const status = await checkTypes(name, project)
    if (status !== 0) return status
  }
  return 0
}

function checkTypes(name, project) {
  return runStep(name, bin('typescript/bin/tsc'), ['--noEmit', '--incremental', '--tsBuildInfoFile', `node_modules/.cache/toolable/${project.replaceAll('/', '-')}`, '-p', project])
}

async function runStep(name, [command, before], argv, environment = {}) {
  const begin = performance.now()
  const child = spawn(command, [...before, ...argv], { stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, ...environment } })
  const status = await new Promise((settle) => {
    child.on('error', () => settle(1))
    child.on('close', (code) => settle(code ?? 1))
  })
  console.log(`${name}: ${status === 0 ? 'passed' : 'FAILED'} in ${((performance.now() - begin) / 1000).toFixed(1)} s`)
  return status
}
