/**
 * Where runs are: the runs folder, run ids, and the paths inside a run folder.
 */

import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { findProjectFolder } from '../core/project.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { findClosest } from '../util/text.ts'

/** Where everything of a run is. */
export type RunPaths = {
  readonly id: string
  readonly folder: string
  /** `run.json`. */
  readonly request: string
  readonly events: string
  readonly workspace: string
  readonly logs: string
  readonly stderr: string
  /** Where the tool may write its own logs. */
  readonly toolLogs: string
  /**
   * What the runner tells the tool by files, and the file that says that it should stop. The folder
   * of the run itself is not for its eyes.
   */
  readonly control: string
  readonly toolCancel: string
  readonly artifacts: string
  /** `<id of the question>.json` is an answer. */
  readonly answers: string
  /** Its presence asks the tool to stop. */
  readonly cancel: string
  readonly lock: string
}

/** The paths of a run whose id was checked. */
export function getRunPaths(root: string, id: string): RunPaths {
  const folder = join(root, id)
  const inside = (...names: readonly string[]): string => join(folder, ...names)
  return {
    id,
    folder,
    request: inside('run.json'),
    events: inside('events.jsonl'),
    workspace: inside('work'),
    logs: inside('logs'),
    stderr: inside('logs', 'stderr.log'),
    toolLogs: inside('work', '.logs'),
    control: inside('control'),
    toolCancel: inside('control', 'CANCEL'),
    artifacts: inside('artifacts'),
    answers: inside('answers'),
    cancel: inside('CANCEL'),
    lock: inside('lock'),
  }
}

const RUN_ID_PATTERN = /^r-[0-9a-f]{10}$/
const RUN_ID_PREFIX_PATTERN = /^(?:r-?)?([0-9a-f]{0,10})$/

const RUN_ID_DIGITS = 10
let randomDigits = ''

/** A new id: `r-` and ten digits of chance. */
export function createRunId(): string {
  // Asked for a few at a time, it costs more than all the rest of an id.
  if (randomDigits.length < RUN_ID_DIGITS)
    randomDigits = Buffer.from(
      crypto.getRandomValues(new Uint8Array(100 * RUN_ID_DIGITS)),
    ).toString('hex')
  const digits = randomDigits.slice(-RUN_ID_DIGITS)
  randomDigits = randomDigits.slice(0, -RUN_ID_DIGITS)
  return `r-${digits}`
}

/** True for what can be the id of a run, and so the name of its folder. */
export function isRunId(text: string): boolean {
  return RUN_ID_PATTERN.test(text)
}

/**
 * The id, or the beginning of it, that a word means, with its `r-`. Throws INVALID_INPUT for
 * anything else: what passes here becomes part of a path.
 */
export function parseRunPrefix(word: string): string {
  const digits = RUN_ID_PREFIX_PATTERN.exec(word)?.[1]
  if (digits) return `r-${digits}`
  const meant = findClosest(word, ['latest'])
  throw new ToolError(
    'INVALID_INPUT',
    `'${word.slice(0, 100)}' is not the id of a run${meant ? `; did you mean '${meant}'?` : ': ids look like r-0123456789'}`,
    { field: 'run', suggestion: meant ? `Use '${meant}'` : 'toolable runs list' },
  )
}

const RUNS_FOLDER_NAME = '.runs'

/**
 * The folder of the runs that are started in a directory: beside the configuration that was named,
 * else beside the nearest one upwards, else in the directory itself. What a run starts is recorded
 * beside it, never inside it, because its workspace goes when it is cleaned. It need not exist.
 */
export function findRunsFolder(cwd: string, configuration?: string): string {
  if (configuration !== undefined)
    return join(dirname(resolve(cwd, configuration)), RUNS_FOLDER_NAME)
  return findEnclosingRunsFolder(cwd) ?? join(findProjectFolder(cwd) ?? cwd, RUNS_FOLDER_NAME)
}

// The outermost one: a workspace may contain other runs.
function findEnclosingRunsFolder(cwd: string): string | undefined {
  let found: string | undefined
  for (let folder = cwd; dirname(folder) !== folder; folder = dirname(folder)) {
    if (isRunId(basename(folder)) && basename(dirname(folder)) === RUNS_FOLDER_NAME)
      found = dirname(folder)
  }
  return found
}

/**
 * Whether a word is the id of something without a folder: only then executions that are records in
 * a file are looked for.
 */
export function isRunIdWithoutFolder(root: string, word: string): boolean {
  return isRunId(word) && !existsSync(join(root, word))
}
