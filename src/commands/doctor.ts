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
import { compact } from '../util/values.ts'
import { findConfigFile, readConfig } from './config.ts'

/** What `doctor` is asked. */
export type DoctorInput = { readonly level?: IsolationLevel }

/**
 * What `doctor` gives. `enough`: nothing is broken, and the level that was asked for is reached.
 */
export type DoctorDiagnosis = {
  readonly level: IsolationLevel
  readonly wanted?: IsolationLevel
  readonly enough: boolean
  readonly findings: readonly DoctorFinding[]
}

/** Finds out what this machine can enforce, and whether runs can be made here at all. */
export async function diagnose(
  { level: wanted }: DoctorInput,
  where: DoctorContext,
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
 * What the doctor found out about one thing. `missing`: runs go on without it, less well held.
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

/** Where the doctor looks. */
type DoctorContext = {
  readonly cwd: string
  readonly env: { readonly [name: string]: string | undefined }
}

/** The fix that an error carries, in words; nothing where it has none. */
function getFix(error: unknown, otherwise?: string): { readonly fix?: string } {
  const given = ToolError.is(error) ? error.suggestion?.fix : undefined
  const fix = given ?? otherwise
  return fix === undefined ? {} : { fix }
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

/** Tries what this machine can enforce on tools. */
async function checkSandbox({
  env,
}: DoctorContext): Promise<{
  readonly abilities: SandboxCapabilities
  readonly findings: readonly DoctorFinding[]
}> {
  const abilities = await detectCapabilities(env)
  const { details, problem } = abilities
  const why = problem?.message ?? 'it does not hold'
  const missing = (id: string): DoctorFinding => ({
    id,
    part: 'sandbox',
    status: 'missing',
    found: why,
    ...getFix(problem),
  })
  const names = Object.keys(MECHANISM_LABELS) as (keyof typeof MECHANISM_LABELS)[]
  const findings = names.map((id): DoctorFinding =>
    details[id] ? { id, part: 'sandbox', status: 'ok', found: MECHANISM_LABELS[id] } : missing(id),
  )
  const egress =
    abilities.level === 'L3'
      ? describeEgress(await runEgressTrial(env['PATH'] ?? ''))
      : missing('egress')
  const memory: DoctorFinding = {
    id: 'memory',
    part: 'sandbox',
    status: 'ok',
    found: MEMORY_LABELS[details.memory],
  }
  return { abilities, findings: [...findings, egress, memory, ...describeUser(abilities)] }
}

function describeEgress(problem: Error | undefined): DoctorFinding {
  if (!problem)
    return {
      id: 'egress',
      part: 'sandbox',
      status: 'ok',
      found: 'a tool reaches exactly the servers that it was granted',
    }
  return {
    id: 'egress',
    part: 'sandbox',
    status: 'missing',
    found: problem.message,
    ...getFix(problem, 'sudo apt-get install --reinstall bubblewrap util-linux'),
  }
}

function describeUser({
  details: { user },
  problem,
}: SandboxCapabilities): readonly DoctorFinding[] {
  if (!user)
    return problem?.code === 'CONFIG'
      ? [
          {
            id: 'user',
            part: 'sandbox',
            status: 'broken',
            found: problem.message,
            ...getFix(problem),
          },
        ]
      : []
  return [
    {
      id: 'user',
      part: 'sandbox',
      status: 'ok',
      found: user.isDropped
        ? `tools are user ${user.uid} where root starts them`
        : `tools are user ${user.uid}, as you are`,
    },
  ]
}

const MIN_NODE_VERSION = [20, 19] as const
const BYTES_PER_MEBIBYTE = 1024 * 1024
/** One run may write so much by itself; below it, runs fail soon. */
const MIN_FREE_MEBIBYTES = 512
/** Clocks that differ more than this make the times of a record wrong. */
const MAX_CLOCK_DIFFERENCE_MS = 5000
const MS_PER_SECOND = 1000
/** This program was not written before then, so that a clock before it is wrong. */
const EARLIEST_TIME_MS = Date.UTC(2025, 0, 1)

/** What runs need of a machine: Node, a folder for them, space and a clock. */
function checkMachine({ cwd }: DoctorContext): readonly DoctorFinding[] {
  const runs = findRunsFolder(cwd)
  const nearest = findExistingFolder(runs)
  return [
    checkNode(),
    isLinux
      ? createMachineFinding('system', 'ok', 'Linux')
      : createMachineFinding(
          'system',
          'missing',
          'only Linux has sandboxes for tools yet',
          'Run this on Linux',
        ),
    ...checkRunsFolder(runs, nearest),
    checkSpace(nearest),
  ]
}

function createMachineFinding(
  id: string,
  status: DoctorFinding['status'],
  found: string,
  fix?: string,
): DoctorFinding {
  return compact({ id, part: 'machine', status, found, fix })
}

function checkNode(): DoctorFinding {
  const [major = 0, minor = 0] = nodeVersion.split('.').map(Number)
  const isEnough =
    major > MIN_NODE_VERSION[0] || (major === MIN_NODE_VERSION[0] && minor >= MIN_NODE_VERSION[1])
  return isEnough
    ? createMachineFinding('node', 'ok', nodeVersion)
    : createMachineFinding(
        'node',
        'broken',
        `${nodeVersion} is older than ${MIN_NODE_VERSION.join('.')}`,
        'Install Node from https://nodejs.org',
      )
}

// The folder of the runs need not be there; then the one where it will be made counts. A file tells
// the clock of the disk too.
function checkRunsFolder(runs: string, nearest: string): readonly DoctorFinding[] {
  let trial: string | undefined
  try {
    trial = mkdtempSync(join(nearest, '.toolable-doctor-'))
    const file = join(trial, 'trial')
    writeFileSync(file, 'trial')
    return [
      createMachineFinding('runs-folder', 'ok', `${runs}${existsSync(runs) ? '' : ' can be made'}`),
      checkClock(Date.now(), statSync(file).mtimeMs),
    ]
  } catch (error) {
    return [
      createMachineFinding(
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
  const difference = Math.abs(now - written)
  if (now < EARLIEST_TIME_MS)
    return createMachineFinding(
      'clock',
      'broken',
      `it is ${new Date(now).toISOString()}`,
      'sudo timedatectl set-ntp true',
    )
  if (difference > MAX_CLOCK_DIFFERENCE_MS)
    return createMachineFinding(
      'clock',
      'missing',
      `the disk of the runs differs by ${Math.round(difference / MS_PER_SECOND)} s`,
      'sudo timedatectl set-ntp true',
    )
  return createMachineFinding('clock', 'ok', `agrees with the disk, ${new Date(now).toISOString()}`)
}

function checkSpace(folder: string): DoctorFinding {
  const { bavail, bsize } = statfsSync(folder)
  const free = Math.floor((bavail * bsize) / BYTES_PER_MEBIBYTE)
  return free >= MIN_FREE_MEBIBYTES
    ? createMachineFinding('disk', 'ok', `${free} MB free`)
    : createMachineFinding(
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
async function checkProject({ cwd, env }: DoctorContext): Promise<readonly DoctorFinding[]> {
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
    return { id, part: 'project', status: 'ok', found: await find() }
  } catch (error) {
    return {
      id,
      part: 'project',
      status: 'broken',
      found: (error as Error).message,
      ...getFix(error),
    }
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
  const fixes = [
    ...new Set(
      findings.flatMap(({ status, fix }) =>
        status === 'ok' || fix === undefined ? [] : [cleanLine(fix)],
      ),
    ),
  ]
  const isReached = wanted === undefined || level >= wanted
  return [
    ...renderTable(rows, { columns, paint }),
    '',
    ...fixes.flatMap((fix) => [`${paint('cyan', 'fix:')} ${fix}`]),
    ...(fixes.length > 0 ? [''] : []),
    `${paint(enough ? 'green' : 'red', LEVEL_MEANINGS[level])}${isReached ? '' : ` (${wanted} wanted)`}`,
    '',
  ].join('\n')
}
