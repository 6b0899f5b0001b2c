import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { runStep } from './run-step.mjs'

// More than these are no accident.
const MOST_SECOND_TRIES = 3
const VITEST = ['node_modules/vitest/vitest.mjs', 'run']

/**
 * Runs vitest. A test file that failed in company runs once more, alone: what a busy machine did to it is told, and does not hide what the commit did.
 */
export async function runTests(name, argv, { environment, signal } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'toolable-tests-'))
  const report = join(folder, 'report.json')
  try {
    const status = await runStep(
      name,
      [...VITEST, ...argv, '--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
      { environment, signal },
    )
    const failed = status === 0 || signal?.aborted ? [] : failedFiles(report)
    if (failed.length === 0 || failed.length > MOST_SECOND_TRIES) return status
    const alone = await runStep(`${name}, second try`, [...VITEST, '--maxWorkers=1', ...failed], {
      environment,
      signal,
    })
    if (alone === 0)
      console.log(`UNSTEADY: failed in company and passed alone: ${failed.join(', ')}`)
    return alone
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

// Without a report vitest did not get so far, and its own exit code stands.
function failedFiles(report) {
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'))
    return testResults
      .filter(({ status }) => status !== 'passed')
      .map(({ name }) => relative('.', name))
  } catch {
    return []
  }
}
