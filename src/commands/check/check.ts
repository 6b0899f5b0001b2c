/**
 * `toolable check`: how ready a program is for agents.
 *
 * probe.ts starts the program in a sandbox and finds out how it describes itself; subject.ts is what checks work with. A check is an object in discovery-checks.ts or behaviour-checks.ts, and one entry in CHECKS.
 */

import { readdirSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import type { ResultRenderer } from '../../cli/formats/envelope.ts'
import type { TextPainter } from '../../cli/formats/terminal-text.ts'
import { cleanLine, createTextPainter } from '../../cli/formats/terminal-text.ts'
import { findProgram } from '../../process/programs.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { quoteForShell } from '../../util/text.ts'
import { compact } from '../../util/values.ts'
import type { CommandContext } from '../command.ts'
import {
  badJsonCheck,
  closedPipeCheck,
  flagAsValueCheck,
  missingFieldCheck,
  noEscapesCheck,
  noPromptsCheck,
  pureSuccessCheck,
  unknownFlagCheck,
  unknownKeyCheck,
  unknownToolCheck,
  wrongTypeCheck,
} from './behaviour-checks.ts'
import {
  describedFieldsCheck,
  deterministicCheck,
  discoveryCheck,
  discoveryTimeCheck,
  examplesCheck,
  hasToolsCheck,
  helpCheck,
  inputSchemaCheck,
  readableHelpCheck,
  summaryCheck,
} from './discovery-checks.ts'
import type { ProgramStart } from './probe.ts'
import { createCheckSandbox, findProgramStart, probeProgram, withProgramRunner } from './probe.ts'
import type { CheckOutcome, CheckSubject, ReadinessCheck, ReadinessReport } from './subject.ts'

/** What `check` is asked. */
type CheckInput = {
  readonly path: readonly string[]
  readonly min: number
  readonly runSeconds: number
  readonly call?: boolean
}
type CheckContext = CommandContext & { readonly signal: AbortSignal }

/** What `check` gives: each program, and all of them together. */
type CheckResult = Pick<ReadinessReport, 'score' | 'of' | 'percent'> & {
  readonly min: number
  readonly enough: boolean
  readonly sandboxed: boolean
  readonly checks?: ReadinessReport['checks']
  readonly programs: readonly ReadinessReport[]
}

const RESERVED_NAMES = /^(\.|_lib$|venv$|shared_venv$|node_modules$|registry$)/

/** Checks programs, and every program of folders. Throws INVALID_PATH for what is neither. */
export async function checkPaths(
  { path: paths, min, runSeconds, call = false }: CheckInput,
  where: CheckContext,
): Promise<CheckResult> {
  const found = paths.flatMap((path) => listPrograms(locateProgram(path, where), path))
  const programs: ReadinessReport[] = []
  let sandboxed = true
  for (const { file, shown, start } of found) {
    const sandbox = await createCheckSandbox(file, where.env)
    sandboxed &&= sandbox !== undefined
    programs.push(
      await withProgramRunner(
        start,
        { env: where.env, signal: where.signal, sandbox, runSeconds },
        async (asking) => runChecks(await probeProgram(shown, asking, call)),
      ),
    )
  }
  const percent =
    programs.length === 1
      ? programs[0]!.percent
      : Math.floor(sumReports(programs, 'percent') / programs.length)
  return compact({
    score: sumReports(programs, 'score'),
    of: sumReports(programs, 'of'),
    percent,
    min,
    enough: percent >= min,
    sandboxed,
    checks: programs.length === 1 ? programs[0]!.checks : undefined,
    programs,
  })
}

type CheckedProgram = {
  readonly file: string
  readonly shown: string
  readonly start: ProgramStart
}

// A bare word may be a file here, or a program that is installed.
function locateProgram(given: string, { cwd, env }: CheckContext): string {
  const path = resolve(cwd, given)
  return statSync(path, { throwIfNoEntry: false })
    ? path
    : (findProgram(given, env['PATH'], cwd) ?? path)
}

function listPrograms(path: string, given: string): readonly CheckedProgram[] {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats)
    throw new ToolError('INVALID_PATH', `path: there is no '${given}'`, {
      field: 'path',
      suggestion: 'Give a program or a folder that exists',
    })
  if (!stats.isDirectory()) {
    const start = findProgramStart(path)
    if (!start)
      throw new ToolError('INVALID_PATH', `path: '${given}' cannot be run`, {
        field: 'path',
        suggestion: `Make it executable: chmod +x ${quoteForShell(given)}`,
      })
    return [{ file: path, shown: given, start }]
  }
  const files = readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !RESERVED_NAMES.test(entry.name))
    .map(({ name }) => name)
    .sort()
  const programs = files.flatMap((name) => {
    const start = findProgramStart(join(path, name))
    // A module that is not executable is for other modules.
    return start && start.command[0] !== 'node'
      ? [{ file: join(path, name), shown: join(given, name), start }]
      : []
  })
  if (programs.length === 0)
    throw new ToolError('INVALID_PATH', `path: the folder '${given}' holds no programs`, {
      field: 'path',
      suggestion: 'Give a folder with scripts or executables',
    })
  return programs
}

function sumReports(programs: readonly ReadinessReport[], key: 'score' | 'of' | 'percent'): number {
  return programs.reduce((total, program) => total + program[key], 0)
}

const STATUS_SHARES = { pass: 1, warn: 0.5, fail: 0, skip: 0 } as const
const SPEECH_LABELS = {
  discover: '--discover',
  dump: '--fractalic-dump-schema',
  'multi-dump': '--fractalic-dump-multi-schema',
  simple: 'Simple JSON',
  nothing: 'no discovery',
} as const

/** Runs every check that says something about a program, and adds up. */
async function runChecks(subject: CheckSubject): Promise<ReadinessReport> {
  const checks = await runInTurns(subject)
  const counted = checks.filter(({ status }) => status !== 'skip')
  const of = counted.reduce((sum, { weight }) => sum + weight, 0)
  const score = counted.reduce((sum, { status, weight }) => sum + STATUS_SHARES[status] * weight, 0)
  return {
    path: subject.path,
    speaks: SPEECH_LABELS[subject.speech],
    tools: subject.tools.map(({ name }) => name),
    score,
    of,
    percent: of === 0 ? 0 : Math.floor((score / of) * 100),
    checks,
  }
}

// Side by side as far as the machine has cores: most of the time is starts of the program.
async function runInTurns(subject: CheckSubject): Promise<readonly CheckOutcome[]> {
  const done = new Map<ReadinessCheck, CheckOutcome>()
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

async function runCheck(check: ReadinessCheck, subject: CheckSubject): Promise<CheckOutcome> {
  const { id, title, weight } = check
  const reason = check.skip?.(subject)
  if (reason !== undefined) return { id, title, status: 'skip', weight, found: reason }
  return { id, title, weight, ...(await check.run(subject)) }
}

/** Every check, in the order in which a reader wants to know. */
const CHECKS: readonly ReadinessCheck[] = [
  discoveryCheck,
  hasToolsCheck,
  deterministicCheck,
  discoveryTimeCheck,
  summaryCheck,
  inputSchemaCheck,
  describedFieldsCheck,
  examplesCheck,
  badJsonCheck,
  missingFieldCheck,
  wrongTypeCheck,
  unknownKeyCheck,
  unknownFlagCheck,
  unknownToolCheck,
  pureSuccessCheck,
  flagAsValueCheck,
  helpCheck,
  readableHelpCheck,
  closedPipeCheck,
  noPromptsCheck,
  noEscapesCheck,
]

const STATUS_MARKS = {
  pass: ['green', String.fromCodePoint(0x2713)],
  warn: ['yellow', '!'],
  fail: ['red', String.fromCodePoint(0x2717)],
  skip: ['dim', '-'],
} as const

/**
 * The report for a person: a line for each check, then how to mend what was found, last the score.
 */
export const renderCheck: ResultRenderer = (result, { color }) => {
  const paint = createTextPainter(color)
  const { programs, percent, min, enough, sandboxed } = result as CheckResult
  const several = programs.length > 1
  const lines = programs.flatMap((program) => describeProgram(program, several, paint))
  const remark =
    'No sandbox on this machine: the programs ran with closed stdin in an empty folder.'
  if (!sandboxed) lines.push(paint('dim', remark), '')
  const verdict = paint(enough ? 'green' : 'red', `${percent} %`)
  const average = several ? ` on average over ${programs.length} programs` : ''
  lines.push(`${verdict} ready for agents${average} (${min} % wanted)`, '')
  return lines.join('\n')
}

function describeProgram(
  { path, speaks, tools, percent, checks }: ReadinessReport,
  several: boolean,
  paint: TextPainter,
): string[] {
  const findings = checks.filter(({ status }) => status === 'fail' || status === 'warn')
  const count = tools.length === 1 ? 'one tool' : `${tools.length} tools`
  const form = tools.length > 0 ? `(${speaks}; ${count})` : `(${speaks})`
  return [
    `${paint('bold', cleanLine(path))} ${paint('dim', form)}`,
    ...checks
      .filter(({ status }) => status !== 'skip')
      .map((check) => `  ${renderMark(check, paint)} ${check.title}`),
    ...describeSkipped(
      checks.filter(({ status }) => status === 'skip'),
      paint,
    ),
    '',
    ...findings.flatMap(({ id, found = '', fix = '', status }) => [
      `${paint(STATUS_MARKS[status][0], id)}: ${cleanLine(found)}`,
      `  ${paint('cyan', 'fix:')} ${cleanLine(fix)}`,
    ]),
    ...(findings.length > 0 ? [''] : []),
    ...(several ? [`${cleanLine(path)}: ${percent} %`, ''] : []),
  ]
}

// What one reason keeps from being known is one line.
function describeSkipped(skipped: readonly CheckOutcome[], paint: TextPainter): string[] {
  const reasons = [...new Set(skipped.map(({ found = '' }) => found))]
  return reasons.map((reason) => {
    const ids = skipped.filter(({ found }) => found === reason).map(({ id }) => id)
    return paint('dim', `  ${STATUS_MARKS.skip[1]} ${ids.join(', ')}: ${reason}`)
  })
}

function renderMark({ status }: CheckOutcome, paint: TextPainter): string {
  const [style, mark] = STATUS_MARKS[status]
  return paint(style, mark)
}
