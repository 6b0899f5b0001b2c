import { availableParallelism } from 'node:os'
import { CHECKS } from './checks/all.ts'
import type { Check, Checked, Report } from './check-type.ts'
import type { Subject } from './subject/subject.ts'

const SHARES = { pass: 1, warn: 0.5, fail: 0, skip: 0 } as const
const SPEAKS = {
  discover: '--discover',
  dump: '--fractalic-dump-schema',
  'multi-dump': '--fractalic-dump-multi-schema',
  simple: 'Simple JSON',
  nothing: 'no discovery',
} as const

/** Runs every check that says something about a program, and adds up. */
export async function runChecks(subject: Subject): Promise<Report> {
  const checks = await inTurns(subject)
  const counted = checks.filter(({ status }) => status !== 'skip')
  const of = counted.reduce((sum, { weight }) => sum + weight, 0)
  const score = counted.reduce((sum, { status, weight }) => sum + SHARES[status] * weight, 0)
  return {
    path: subject.path,
    speaks: SPEAKS[subject.speech],
    tools: subject.tools.map(({ name }) => name),
    score,
    of,
    percent: of === 0 ? 0 : Math.floor((score / of) * 100),
    checks,
  }
}

// Side by side as far as the machine has cores: most of the time is starts of the program.
async function inTurns(subject: Subject): Promise<readonly Checked[]> {
  const done = new Map<Check, Checked>()
  for (const turn of ['first', undefined, 'last'] as const) {
    const waiting = CHECKS.filter((check) => check.turn === turn)
    const work = async (): Promise<void> => {
      for (let check = waiting.shift(); check; check = waiting.shift())
        done.set(check, await runCheck(check, subject))
    }
    await Promise.all(Array.from({ length: turn === undefined ? availableParallelism() : 1 }, work))
  }
  return CHECKS.map((check) => done.get(check)!)
}

async function runCheck(check: Check, subject: Subject): Promise<Checked> {
  const { id, title, weight } = check
  const reason = check.skip?.(subject)
  if (reason !== undefined) return { id, title, status: 'skip', weight, found: reason }
  return { id, title, weight, ...(await check.run(subject)) }
}
