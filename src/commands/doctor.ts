/**
 * `toolable doctor`: what this machine can enforce on tools, and what stands in the way of runs.
 */

import { existsSync, mkdtempSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ResultRenderer } from '../cli/formats/envelope.ts'
import { cleanLine, createTextPainter } from '../cli/formats/terminal-text.ts'
import { renderTable } from '../cli/formats/text.ts'
import type { IsolationLevel } from '../process/grants.ts'
import { ISOLATION_LEVELS } from '../process/grants.ts'
import { isLinux, nodeVersion } from '../process/host.ts'
import { loadPolicies } from '../process/load-policies.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { findRunsFolder } from '../runner/run-paths.ts'
import type { SandboxCapabilities } from '../sandbox/capabilities.ts'
import { detectCapabilities, runEgressTrial } from '../sandbox/capabilities.ts'
import { MEBIBYTE, SECOND_MS } from '../util/units.ts'
import { compact } from '../util/values.ts'
import type { CommandContext } from './command.ts'
import { findConfigFile, readConfig } from './config.ts'

/** What `doctor` is asked. */
type DoctorInput = { readonly level?: IsolationLevel }

/**
 * What `doctor` gives. `enough`: nothing is broken, and the level that was asked for is reached.
 */
type DoctorDiagnosis = {
  readonly level: IsolationLevel
  readonly wanted?: IsolationLevel
  readonly enough: boolean
  readonly findings: readonly DoctorFinding[]
}

/** Finds out what this machine can enforce, and whether runs can be made here at all. */
export async function diagnose(
  { level: wanted }: DoctorInput,
  where: CommandContext,
): Promise<DoctorDiagnosis> {
  const { abilities, findings: sandbox } = await checkSandbox(where)
  const findings = [...sandbox, ...checkMachine(where), ...(await checkProject(where))]
  const isReached =
    wanted === undefined ||
    ISOLATION_LEVELS.indexOf(abilities.level) >= ISOLATION_LEVELS.indexOf(wanted)
  return compact({
    level: abilities.level,
    wanted,
    enough: isReached && !findings.some(({ status }) => status === 'broken'),
    findings,
  })
}

/**
 * What the doctor found out about one thing. `missing`: runs work without it, with weaker limits.
 * `broken`: runs fail.
 */
type DoctorFinding = {
  readonly id: string
  readonly part: 'sandbox' | 'machine' | 'project'
  readonly status: 'ok' | 'missing' | 'broken'
  readonly found: string
  /** What to do about it, to be pasted where that is possible. */
  readonly fix?: string
}

/** Creates the findings about one part. */
function createFindings(part: DoctorFinding['part']) {
  return (
    id: string,
    status: DoctorFinding['status'],
    found: string,
    fix?: string | undefined,
  ): DoctorFinding => compact({ id, part, status, found, fix })
}

const aboutSandbox = createFindings('sandbox')
const aboutMachine = createFindings('machine')
const aboutProject = createFindings('project')

/** The fix that an error carries. */
function getFix(error: unknown): string | undefined {
  return ToolError.is(error) ? error.suggestion?.fix : undefined
}

/** What each mechanism does where it works. */
const MECHANISM_LABELS = {
  files: 'files outside the grants of a tool cannot be read or written',
  network: 'a tool without grants reaches no server',
  processes: 'a tool does not see processes of others',
  seccomp: 'system calls are filtered',
  privileges: 'no program gains rights',
  nproc: 'the kernel bounds the number of processes',
} as const

/** Who holds the memory of a whole tree. */
const MEMORY_LABELS = {
  cgroup: 'the kernel bounds the memory of a whole tree (cgroup v2)',
  watchdog: 'a watchdog bounds the memory of a whole tree',
} as const

type SandboxFindings = {
  readonly abilities: SandboxCapabilities
  readonly findings: readonly DoctorFinding[]
}

/** Tries what this machine can enforce on tools. */
async function checkSandbox({ env }: CommandContext): Promise<SandboxFindings> {
  const abilities = await detectCapabilities(env)
  const { details, problem, level } = abilities
  const why = problem?.message ?? 'it does not hold'
  const missing = (id: string): DoctorFinding => aboutSandbox(id, 'missing', why, getFix(problem))
  const names = Object.keys(MECHANISM_LABELS) as (keyof typeof MECHANISM_LABELS)[]
  const findings = [
    ...names.map((id) =>
      details[id] ? aboutSandbox(id, 'ok', MECHANISM_LABELS[id]) : missing(id),
    ),
    level === 'L3' ? await checkEgress(env) : missing('egress'),
    aboutSandbox('memory', 'ok', MEMORY_LABELS[details.memory]),
    ...describeUser(abilities),
  ]
  return { abilities, findings }
}

async function checkEgress(env: CommandContext['env']): Promise<DoctorFinding> {
  const problem = await runEgressTrial(env['PATH'] ?? '')
  if (!problem)
    return aboutSandbox('egress', 'ok', 'a tool reaches exactly the servers that it was granted')
  const fix = getFix(problem) ?? 'sudo apt-get install --reinstall bubblewrap util-linux'
  return aboutSandbox('egress', 'missing', problem.message, fix)
}

function describeUser({ details, problem }: SandboxCapabilities): readonly DoctorFinding[] {
  const { user } = details
  if (user) {
    const how = user.isDropped ? ' where root starts them' : ', as you are'
    return [aboutSandbox('user', 'ok', `tools are user ${user.uid}${how}`)]
  }
  if (problem?.code !== 'CONFIG') return []
  return [aboutSandbox('user', 'broken', problem.message, getFix(problem))]
}

const MIN_NODE_VERSION = [20, 19] as const
/** What one run may write; with less, runs fail soon. */
const MIN_FREE_MEBIBYTES = 512
/** Clocks that differ more than this make the times of a record wrong. */
const MAX_CLOCK_DIFFERENCE_MS = 5000
/** This program is younger: a clock before this time is wrong. */
const EARLIEST_TIME_MS = Date.UTC(2025, 0, 1)

/** What runs need of a machine: Node, a folder for them, space and a clock. */
function checkMachine({ cwd }: CommandContext): readonly DoctorFinding[] {
  const runs = findRunsFolder(cwd)
  const nearest = findExistingFolder(runs)
  return [
    checkNode(),
    isLinux
      ? aboutMachine('system', 'ok', 'Linux')
      : aboutMachine(
          'system',
          'missing',
          'only Linux has sandboxes for tools yet',
          'Run this on Linux',
        ),
    ...checkRunsFolder(runs, nearest),
    checkSpace(nearest),
  ]
}

function checkNode(): DoctorFinding {
  const [major = 0, minor = 0] = nodeVersion.split('.').map(Number)
  const isEnough =
    major > MIN_NODE_VERSION[0] || (major === MIN_NODE_VERSION[0] && minor >= MIN_NODE_VERSION[1])
  return isEnough
    ? aboutMachine('node', 'ok', nodeVersion)
    : aboutMachine(
        'node',
        'broken',
        `${nodeVersion} is older than ${MIN_NODE_VERSION.join('.')}`,
        'Install Node from https://nodejs.org',
      )
}

// Where the folder of the runs does not exist, the one that it will be made in counts. A file shows
// the clock of the disk too.
function checkRunsFolder(runs: string, nearest: string): readonly DoctorFinding[] {
  let trial: string | undefined
  try {
    trial = mkdtempSync(join(nearest, '.toolable-doctor-'))
    const file = join(trial, 'trial')
    writeFileSync(file, 'trial')
    return [
      aboutMachine('runs-folder', 'ok', `${runs}${existsSync(runs) ? '' : ' can be made'}`),
      checkClock(Date.now(), statSync(file).mtimeMs),
    ]
  } catch (error) {
    return [
      aboutMachine(
        'runs-folder',
        'broken',
        `${runs} cannot be written: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`,
        `sudo chown -R "$USER" ${nearest}`,
      ),
    ]
  } finally {
    if (trial !== undefined) rmSync(trial, { recursive: true, force: true })
  }
}

function checkClock(now: number, written: number): DoctorFinding {
  const time = new Date(now).toISOString()
  const difference = Math.abs(now - written)
  const fix = 'sudo timedatectl set-ntp true'
  if (now < EARLIEST_TIME_MS) return aboutMachine('clock', 'broken', `it is ${time}`, fix)
  if (difference <= MAX_CLOCK_DIFFERENCE_MS)
    return aboutMachine('clock', 'ok', `agrees with the disk, ${time}`)
  const seconds = Math.round(difference / SECOND_MS)
  return aboutMachine('clock', 'missing', `the disk of the runs differs by ${seconds} s`, fix)
}

function checkSpace(folder: string): DoctorFinding {
  const { bavail, bsize } = statfsSync(folder)
  const free = Math.floor((bavail * bsize) / MEBIBYTE)
  return free >= MIN_FREE_MEBIBYTES
    ? aboutMachine('disk', 'ok', `${free} MB free`)
    : aboutMachine(
        'disk',
        'missing',
        `${free} MB free; one run may need ${MIN_FREE_MEBIBYTES}`,
        'toolable runs clean --older-than 7d',
      )
}

function findExistingFolder(path: string): string {
  for (let folder = path; ; folder = dirname(folder)) if (existsSync(folder)) return folder
}

/**
 * The files that decide what tools there are and what they may do, and whether they are understood.
 */
async function checkProject({ cwd, env }: CommandContext): Promise<readonly DoctorFinding[]> {
  return [
    await checkFile('config', async () => {
      const file = findConfigFile(cwd, undefined)
      if (file === undefined) return 'none; tools come from ./tools'
      await readConfig(file)
      return file
    }),
    await checkFile('policies', async () => {
      const { layers } = await loadPolicies(cwd, env)
      const files = [...new Set(layers.map(({ file }) => file))]
      return files.length === 0
        ? 'none; manifests may ask for anything but the whole network and servers of this machine'
        : files.join(', ')
    }),
  ]
}

async function checkFile(id: string, find: () => Promise<string>): Promise<DoctorFinding> {
  try {
    return aboutProject(id, 'ok', await find())
  } catch (error) {
    return aboutProject(id, 'broken', (error as Error).message, getFix(error))
  }
}

const LEVEL_MEANINGS = {
  L1: 'L1: environment, limits, time and output are held; files and servers are not',
  L2: 'L2',
  L3: 'L3: files, servers, processes, system calls and limits are held',
} as const

/** The diagnosis for a person: a table, then every fix once, last the level. */
export const renderDiagnosis: ResultRenderer = (result, { columns, color }) => {
  const paint = createTextPainter(color)
  const { level, wanted, enough, findings } = result as DoctorDiagnosis
  const rows = findings.map(({ id, status, found }) => ({
    what: id,
    status,
    found: cleanLine(found),
  }))
  const wrong = findings.filter(({ status }) => status !== 'ok')
  const fixes = new Set(wrong.flatMap(({ fix }) => (fix === undefined ? [] : [cleanLine(fix)])))
  const isReached = wanted === undefined || level >= wanted
  const verdict = paint(enough ? 'green' : 'red', LEVEL_MEANINGS[level])
  return [
    ...renderTable(rows, { columns, paint }),
    '',
    ...[...fixes].map((fix) => `${paint('cyan', 'fix:')} ${fix}`),
    ...(fixes.size > 0 ? [''] : []),
    `${verdict}${isReached ? '' : ` (${wanted} wanted)`}`,
    '',
  ].join('\n')
}
