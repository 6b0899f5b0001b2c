import { existsSync, mkdtempSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isLinux, nodeVersion } from '../../process/host.ts'
import { findRunsFolder } from '../../runner/folder/find-runs-folder.ts'
import type { Finding, Where } from './finding.ts'

const OLDEST_NODE = [20, 19] as const
const MEBIBYTE = 1024 * 1024
/** One run may write so much by itself; below it, runs fail soon. */
const ENOUGH_SPACE = 512
/** Clocks that differ more than this make the times of a record wrong. */
const LARGEST_DIFFERENCE = 5000
const SECOND = 1000
/** This program was not written before then, so that a clock before it is wrong. */
const FIRST_MOMENT = Date.UTC(2025, 0, 1)

/** What runs need of a machine: Node, a folder for them, space and a clock. */
export function lookAtMachine({ cwd }: Where): readonly Finding[] {
  const runs = findRunsFolder(cwd)
  const nearest = nearestThere(runs)
  return [
    lookAtNode(),
    isLinux
      ? machine('system', 'ok', 'Linux')
      : machine('system', 'missing', 'only Linux has sandboxes for tools yet', 'Run this on Linux'),
    ...lookAtFolder(runs, nearest),
    lookAtSpace(nearest),
  ]
}

function machine(id: string, status: Finding['status'], found: string, fix?: string): Finding {
  return { id, part: 'machine', status, found, ...(fix !== undefined && { fix }) }
}

function lookAtNode(): Finding {
  const [major = 0, minor = 0] = nodeVersion.split('.').map(Number)
  const isEnough = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])
  return isEnough
    ? machine('node', 'ok', nodeVersion)
    : machine(
        'node',
        'broken',
        `${nodeVersion} is older than ${OLDEST_NODE.join('.')}`,
        'Install Node from https://nodejs.org',
      )
}

// The folder of the runs need not be there; then the one where it will be made counts. A file tells the clock of the disk too.
function lookAtFolder(runs: string, nearest: string): readonly Finding[] {
  let trial: string | undefined
  try {
    trial = mkdtempSync(join(nearest, '.toolable-doctor-'))
    const file = join(trial, 'trial')
    writeFileSync(file, 'trial')
    return [
      machine('runs-folder', 'ok', `${runs}${existsSync(runs) ? '' : ' can be made'}`),
      lookAtClock(Date.now(), statSync(file).mtimeMs),
    ]
  } catch (error) {
    return [
      machine(
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

function lookAtClock(now: number, written: number): Finding {
  const difference = Math.abs(now - written)
  if (now < FIRST_MOMENT)
    return machine(
      'clock',
      'broken',
      `it is ${new Date(now).toISOString()}`,
      'sudo timedatectl set-ntp true',
    )
  if (difference > LARGEST_DIFFERENCE)
    return machine(
      'clock',
      'missing',
      `the disk of the runs differs by ${Math.round(difference / SECOND)} s`,
      'sudo timedatectl set-ntp true',
    )
  return machine('clock', 'ok', `agrees with the disk, ${new Date(now).toISOString()}`)
}

function lookAtSpace(folder: string): Finding {
  const { bavail, bsize } = statfsSync(folder)
  const free = Math.floor((bavail * bsize) / MEBIBYTE)
  return free >= ENOUGH_SPACE
    ? machine('disk', 'ok', `${free} MB free`)
    : machine(
        'disk',
        'missing',
        `${free} MB free; one run may need ${ENOUGH_SPACE}`,
        'toolable runs clean --older-than 7d',
      )
}

function nearestThere(path: string): string {
  for (let folder = path; ; folder = dirname(folder)) if (existsSync(folder)) return folder
}
