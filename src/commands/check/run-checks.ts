import { CHECKS } from './checks/all.ts'
import type { Check, Checked, Report } from './check-type.ts'
import type { Subject } from './subject/subject.ts'

const SHARES = { pass: 1, warn: 0.5, fail: 0, skip: 0 } as const
const SPEAKS = { discover: '--discover', dump: '--fractalic-dump-schema', 'multi-dump': '--fractalic-dump-multi-schema', simple: 'Simple JSON', nothing: 'no discovery' } as const

/** Runs every check that says something about a program, one after the other, and adds up. */
export async function runChecks(subject: Subject): Promise<Report> {
  const checks: Checked[] = []
  for (const check of CHECKS) checks.push(await runCheck(check, subject))
  const counted = checks.filter(({ status }) => status !== 'skip')
  const of = counted.reduce((sum, { weight }) => sum + weight, 0)
  const score = counted.reduce((sum, { status, weight }) => sum + SHARES[status] * weight, 0)
  return { path: subject.path, speaks: SPEAKS[subject.speech], tools: subject.tools.map(({ name }) => name), score, of, percent: of === 0 ? 0 : Math.floor((score / of) * 100), checks }
}

async function runCheck(check: Check, subject: Subject): Promise<Checked> {
  const { id, title, weight } = check
  const reason = check.skip?.(subject)
  if (reason !== undefined) return { id, title, status: 'skip', weight, found: reason }
  return { id, title, weight, ...(await check.run(subject)) }
}
