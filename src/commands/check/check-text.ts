import { createPaint } from '../../surfaces/cli/output/color.ts'
import type { Paint } from '../../surfaces/cli/output/color.ts'
import type { RenderResult } from '../../surfaces/cli/output/format-options.ts'
import { cleanLine } from '../../surfaces/cli/output/text/clean.ts'
import type { Checked, Report } from './check-type.ts'
import type { CheckResult } from './check.ts'

const MARKS = {
  pass: ['green', String.fromCodePoint(0x2713)],
  warn: ['yellow', '!'],
  fail: ['red', String.fromCodePoint(0x2717)],
  skip: ['dim', '-'],
} as const

/** The report for a person: a line for each check, then how to mend what was found, last the score. */
export const renderCheck: RenderResult = (result, { color }) => {
  const paint = createPaint(color)
  const { programs, percent, min, enough, sandboxed } = result as CheckResult
  const remark = sandboxed
    ? []
    : [
        paint(
          'dim',
          'No sandbox on this machine: the programs ran with closed stdin in an empty folder.',
        ),
        '',
      ]
  const verdict = paint(enough ? 'green' : 'red', `${percent} %`)
  const last =
    programs.length === 1
      ? `${verdict} ready for agents (${min} % wanted)`
      : `${verdict} ready for agents on average over ${programs.length} programs (${min} % wanted)`
  return [
    ...programs.flatMap((program) => describeProgram(program, programs.length > 1, paint)),
    ...remark,
    last,
    '',
  ].join('\n')
}

function describeProgram(
  { path, speaks, tools, percent, checks }: Report,
  several: boolean,
  paint: Paint,
): string[] {
  const findings = checks.filter(({ status }) => status === 'fail' || status === 'warn')
  return [
    `${paint('bold', cleanLine(path))} ${paint('dim', `(${speaks}${tools.length > 0 ? `; ${tools.length === 1 ? 'one tool' : `${tools.length} tools`}` : ''})`)}`,
    ...checks
      .filter(({ status }) => status !== 'skip')
      .map((check) => `  ${markOf(check, paint)} ${check.title}`),
    ...describeSkipped(
      checks.filter(({ status }) => status === 'skip'),
      paint,
    ),
    '',
    ...findings.flatMap(({ id, found = '', fix = '', status }) => [
      `${paint(MARKS[status][0], id)}: ${cleanLine(found)}`,
      `  ${paint('cyan', 'fix:')} ${cleanLine(fix)}`,
    ]),
    ...(findings.length > 0 ? [''] : []),
    ...(several ? [`${cleanLine(path)}: ${percent} %`, ''] : []),
  ]
}

// What one reason keeps from being known is one line.
function describeSkipped(skipped: readonly Checked[], paint: Paint): string[] {
  const reasons = [...new Set(skipped.map(({ found = '' }) => found))]
  return reasons.map((reason) => {
    const ids = skipped.filter(({ found }) => found === reason).map(({ id }) => id)
    return paint('dim', `  ${MARKS.skip[1]} ${ids.join(', ')}: ${reason}`)
  })
}

function markOf({ status }: Checked, paint: Paint): string {
  const [style, mark] = MARKS[status]
  return paint(style, mark)
}
