import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { runStep } from './run-step.mjs'

const VITEST = ['node_modules/vitest/vitest.mjs', 'run']
// With more failed files than this the cause is the change, not the load.
const MAX_FILES_TO_REPEAT = 3
// A file of the fast suite that takes longer is worth a look: make it cheaper, or move it.
const LONG_FILE_MS = 20_000
const NO_TESTS = { passed: 0, failed: 0 }

/**
 * Runs vitest and returns how many tests passed and failed.
 *
 * A file that fails runs again on its own, only to report whether it is unsteady. It counts as
 * failed either way.
 */
export async function runTests(name, argv, { environment, signal, node } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'toolable-tests-'))
  const file = join(folder, 'report.json')
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
    const status = await runStep(name, [...VITEST, ...argv, ...reporters], {
      environment,
      signal,
      node,
    })
    if (signal?.aborted) return NO_TESTS
    const report = readReport(file)
    listLongFiles(report)
    if (status === 0) return { passed: report.passed, failed: 0 }
    await reportUnsteady(name, report.failedFiles, { environment, signal, node })
    return { passed: report.passed, failed: Math.max(report.failed, 1) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function reportUnsteady(name, files, options) {
  if (files.length === 0 || files.length > MAX_FILES_TO_REPEAT) return
  const unsteady = []
  for (const file of files) {
    const status = await runStep(
      `${name}, ${file} on its own`,
      [...VITEST, '--maxWorkers=1', file],
      options,
    )
    if (status === 0) unsteady.push(file)
  }
  for (const file of unsteady)
    console.log(`UNSTEADY: ${file} failed beside other tests and passed on its own`)
}

function listLongFiles({ files }) {
  const long = files
    .filter(({ milliseconds }) => milliseconds > LONG_FILE_MS)
    .sort((a, b) => b.milliseconds - a.milliseconds)
  for (const { name, milliseconds } of long)
    console.log(`${(milliseconds / 1000).toFixed(0).padStart(5)} s  ${name}`)
}

// Without a report vitest did not get as far as a test; its exit code decides.
function readReport(file) {
  let report
  try {
    report = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return { passed: 0, failed: 0, files: [], failedFiles: [] }
  }
  const files = report.testResults.map((result) => ({
    name: relative('.', result.name),
    milliseconds: result.endTime - result.startTime,
    hasFailed: result.status !== 'passed',
    isBroken:
      result.status !== 'passed' &&
      !result.assertionResults.some(({ status }) => status === 'failed'),
  }))
  return {
    passed: report.numPassedTests,
    // A file that cannot be loaded has no tests, and counts as one that failed.
    failed: report.numFailedTests + files.filter(({ isBroken }) => isBroken).length,
    files,
    failedFiles: files.filter(({ hasFailed }) => hasFailed).map(({ name }) => name),
  }
}
