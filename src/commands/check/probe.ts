/**
 * Starts the program under check in a sandbox and finds out how it describes itself.
 */

import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readSync,
  realpathSync,
} from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, extname, join } from 'node:path'
import { SIMPLE_JSON_PROBE } from '../../cli/discovery.ts'
import type { ChildEnd, SandboxProfile } from '../../process/child.ts'
import { buildProbeEnv } from '../../process/environment.ts'
import { runChild } from '../../process/run.ts'
import type { Annotations } from '../../protocol/manifest.ts'
import { findSandbox } from '../../sandbox/probe-sandbox.ts'
import { MEBIBYTE } from '../../util/units.ts'
import { compact, isObject } from '../../util/values.ts'
import type { CommandContext } from '../command.ts'
import type { CheckSubject, DescribedTool, DiscoveryKind, ProgramRun } from './subject.ts'
import { parseDocument } from './subject.ts'

type ProbeResult = {
  readonly speech: DiscoveryKind
  readonly discovery: ProgramRun
  readonly tools: readonly DescribedTool[]
}

/** Finds out how a program tells what it is: the richest form first. */
export async function probeProgram(
  path: string,
  asking: ProgramRunner,
  mayCall: boolean,
): Promise<CheckSubject> {
  const name = basename(path, extname(path)).replace(/[^A-Za-z0-9_-]+/g, '_')
  const found = (await probeDiscover(asking, name)) ??
    (await probeSchemaDump(asking, name)) ??
    (await probeSimpleJson(asking, name)) ?? {
      speech: 'nothing',
      discovery: await asking.ask(['--discover']),
      tools: [],
    }
  return { path, ...asking, ...found, mayCall }
}

async function probeDiscover(
  { ask }: ProgramRunner,
  name: string,
): Promise<ProbeResult | undefined> {
  const discovery = await ask(['--discover'])
  const document = parseDocument(discovery)?.value
  if (discovery.status !== 0 || !isObject(document) || !Array.isArray(document['tools']))
    return undefined
  const short = readTools(document, name)
  const rich = await readDetailedTools(ask, name)
  // Discovery has the summaries and the schema everything else.
  const tools = short.map((tool) => {
    const more = rich.find((other) => other.name === tool.name)
    return more ? { ...more, summary: tool.summary } : tool
  })
  return { speech: 'discover', discovery, tools }
}

// Either of them has the schemas.
async function readDetailedTools(
  ask: ProgramRunner['ask'],
  name: string,
): Promise<readonly DescribedTool[]> {
  for (const flag of ['--schema', '--manifest']) {
    const ran = await ask([flag])
    const tools = ran.status === 0 ? readTools(parseDocument(ran)?.value, name) : []
    if (tools.some(({ inputSchema }) => inputSchema)) return tools
  }
  return []
}

async function probeSchemaDump(
  { ask }: ProgramRunner,
  name: string,
): Promise<ProbeResult | undefined> {
  for (const [flag, speech] of [
    ['--fractalic-dump-multi-schema', 'multi-dump'],
    ['--fractalic-dump-schema', 'dump'],
  ] as const) {
    const discovery = await ask([flag])
    const tools =
      discovery.status === 0
        ? readTools(parseDocument(discovery)?.value, name).filter(({ inputSchema }) => inputSchema)
        : []
    if (tools.length > 0) return { speech, discovery, tools }
  }
  return undefined
}

async function probeSimpleJson(
  { ask }: ProgramRunner,
  name: string,
): Promise<ProbeResult | undefined> {
  const discovery = await ask([SIMPLE_JSON_PROBE])
  const document = parseDocument(discovery)?.value
  if (discovery.status !== 0 || !isObject(document) || document['_simple'] !== true)
    return undefined
  return {
    speech: 'simple',
    discovery,
    tools: [{ name, summary: '', description: '', annotations: {}, examples: [] }],
  }
}

/** The tools that a document of any known form describes; none where it is something else. */
function readTools(document: unknown, fallbackName: string): readonly DescribedTool[] {
  return listEntries(document)
    .filter(isObject)
    .map((entry) => readTool(entry, fallbackName))
}

function listEntries(document: unknown): readonly unknown[] {
  if (Array.isArray(document)) return document
  if (!isObject(document)) return []
  return Array.isArray(document['tools']) ? document['tools'] : [document]
}

function readTool(given: Record<string, unknown>, fallbackName: string): DescribedTool {
  const entry = isObject(given['function']) ? given['function'] : given
  const schema = [
    entry['input_schema'],
    entry['inputSchema'],
    entry['parameters'],
    entry['schema'],
  ].find(isObject)
  const description = toText(entry['description'])
  return compact({
    name: toText(entry['name']) || fallbackName,
    summary: toText(entry['summary']) || description.split('\n', 1)[0]!,
    description,
    inputSchema: schema,
    annotations: readAnnotations(entry['annotations']),
    examples: Array.isArray(entry['examples']) ? entry['examples'].filter(isObject) : [],
  })
}

function readAnnotations(given: unknown): Annotations {
  if (!isObject(given)) return {}
  const says = (...names: string[]): boolean => names.some((name) => given[name] === true)
  return compact({
    readOnly: says('readOnly', 'readOnlyHint', 'read_only') || undefined,
    destructive: says('destructive', 'destructiveHint') || undefined,
  })
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value.trim() : ''
}

/** The ways in which a program can be asked. */
type ProgramRunner = Pick<CheckSubject, 'command' | 'ask' | 'runs' | 'bareStart' | 'contained'>

type ProgramRunnerOptions = {
  readonly env: CommandContext['env']
  readonly signal: AbortSignal
  readonly sandbox: SandboxProfile | undefined
  /** A run that takes longer is ended. */
  readonly runSeconds: number
}

const MAX_OUTPUT_BYTES = 16 * MEBIBYTE

/** Lets `work` ask a program in a folder that is empty before and gone afterwards. */
export async function withProgramRunner<Result>(
  { command, bare }: ProgramStart,
  { env, signal, sandbox, runSeconds }: ProgramRunnerOptions,
  work: (asking: ProgramRunner) => Promise<Result>,
): Promise<Result> {
  const home = await mkdtemp(join(tmpdir(), 'toolable-check-'))
  const remembered = new Map<string, Promise<ProgramRun>>()
  const runs: ProgramRun[] = []
  const run = async (
    whole: readonly string[],
    args: readonly string[],
    extra: { readonly [name: string]: string } = {},
  ): Promise<ProgramRun> => {
    const end = await runChild(
      compact({
        command: whole as [string, ...string[]],
        cwd: home,
        env: { ...buildProbeEnv(env, home), ...extra },
        timeout: runSeconds * 1000,
        maxStdout: MAX_OUTPUT_BYTES,
        signal,
        sandbox,
      }),
    )
    signal.throwIfAborted()
    return toProgramRun(args, end, runSeconds)
  }
  try {
    return await work({
      command,
      runs,
      contained: sandbox !== undefined,
      async ask(args, { env: extra, again, unread } = {}) {
        const key = JSON.stringify([args, extra, unread])
        const known = again ? undefined : remembered.get(key)
        if (known) return known
        // The reader is gone before the program can have said anything.
        const whole = unread
          ? ['sh', '-c', '"$@" | :', 'sh', ...command, ...args]
          : [...command, ...args]
        const asked = run(whole, args, extra)
        remembered.set(key, asked)
        runs.push(await asked)
        return asked
      },
      bareStart: async () => (await run(bare, [])).duration,
    })
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

function toProgramRun(
  args: readonly string[],
  { reason, status, signal, stdout, stderr, duration, problem }: ChildEnd,
  runSeconds: number,
): ProgramRun {
  const troubles: { readonly [reason: string]: string | undefined } = {
    exited: signal === null ? undefined : `killed by ${signal}`,
    timeout: `it did not end within ${runSeconds} seconds`,
    'stdout-limit': 'it printed without end',
    'not-started': 'it could not be started',
  }
  const hasExited = reason === 'exited'
  const trouble = troubles[reason] ?? (hasExited ? undefined : reason)
  return compact({
    args,
    status: hasExited ? status : null,
    stdout: stdout.toString(),
    stderr: stderr.toString(),
    duration,
    trouble: trouble && problem ? `${trouble}: ${problem.message}` : trouble,
  })
}

/** How a file is started, and how long its interpreter takes without it. */
export type ProgramStart = {
  readonly command: readonly [string, ...string[]]
  readonly bare: readonly [string, ...string[]]
}

const NODE_START = ['node', '-e', '0'] as const
const PYTHON_START = ['python3', '-c', 'pass'] as const
const SHELL_START = ['sh', '-c', ':'] as const

const START_BY_EXTENSION: {
  readonly [extension: string]: {
    readonly interpreter: string
    readonly bare: ProgramStart['bare']
  }
} = {
  '.py': { interpreter: 'python3', bare: PYTHON_START },
  '.sh': { interpreter: 'bash', bare: SHELL_START },
  '.js': { interpreter: 'node', bare: NODE_START },
  '.mjs': { interpreter: 'node', bare: NODE_START },
  '.cjs': { interpreter: 'node', bare: NODE_START },
}

/**
 * How to start a file: itself where it may be executed, else by the interpreter of its extension;
 * undefined where neither works.
 */
export function findProgramStart(file: string): ProgramStart | undefined {
  const byExtension = START_BY_EXTENSION[extname(file)]
  const bare = getInterpreterStart(readFirstLine(file)) ?? byExtension?.bare ?? NODE_START
  if (isExecutable(file)) return { command: [file], bare }
  return byExtension && { command: [byExtension.interpreter, file], bare }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function readFirstLine(file: string): string {
  const buffer = Buffer.alloc(200)
  const descriptor = openSync(file, 'r')
  try {
    return buffer.toString('latin1', 0, readSync(descriptor, buffer)).split('\n', 1)[0]!
  } finally {
    closeSync(descriptor)
  }
}

// A compiled program has no interpreter; what node takes is a fair measure for it.
function getInterpreterStart(line: string): ProgramStart['bare'] | undefined {
  if (!line.startsWith('#!')) return undefined
  if (/python/.test(line)) return PYTHON_START
  if (/\b(ba|da|z|k)?sh\b/.test(line)) return SHELL_START
  return NODE_START
}

const PROJECT_MARKS = ['package.json', 'pyproject.toml', '.git', 'toolable.yaml', 'toolable.json']

/**
 * The sandbox in which a program can be tried without harm: it sees the project that it belongs to.
 * Undefined where the machine has none.
 */
export async function createCheckSandbox(
  file: string,
  env: CommandContext['env'],
): Promise<SandboxProfile | undefined> {
  if (!(await findSandbox(env)).available) return undefined
  const real = realpathSync(file)
  return {
    writable: 'private-tmp',
    network: 'none',
    readable: [...new Set([dirname(file), dirname(real), findProjectFolder(real)])],
  }
}

// What it imports lies beside the file that says where the project begins.
function findProjectFolder(file: string): string {
  for (let folder = dirname(file); dirname(folder) !== folder; folder = dirname(folder)) {
    if (PROJECT_MARKS.some((mark) => existsSync(join(folder, mark)))) return folder
  }
  return dirname(file)
}
