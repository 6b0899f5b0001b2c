/**
 * Asks a program what it is, by running it in a sandbox with a few questions. The richest answer wins.
 */

import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join, parse } from 'node:path'
import type { ChildEnd } from '../../process/child.ts'
import type { HostEnv } from '../../process/environment.ts'
import { buildProbeEnv } from '../../process/environment.ts'
import { findProgram } from '../../process/programs.ts'
import { runChild } from '../../process/run.ts'
import { findSandbox } from '../../sandbox/probe-sandbox.ts'
import { resolveRealPath, withTemporaryFolder } from '../../util/files.ts'
import { quoteCommandLine } from '../../util/text.ts'
import { compact, isObject } from '../../util/values.ts'
import type { CallForm, ChildCall } from '../child/child-call.ts'
import type {
  ProbeCandidate,
  ProbedProgram,
  ProbeOptions,
  ProbeQuestion,
  ProbeTarget,
  ProbeVerdict,
  ProbeWarning,
  ProgramTool,
} from './ask.ts'
import {
  askProbeQuestion,
  DISCOVER_QUESTION,
  getSharedGate,
  HELP_QUESTION,
  measureAlone,
  MULTI_SCHEMA_QUESTION,
  SCHEMA_QUESTION,
  SIMPLE_QUESTION,
  WANTED_ANSWER_MS,
} from './ask.ts'
import type { DiscoveredProgram, DumpedTool } from './discovery.ts'
import {
  getDumpedCall,
  isDumpList,
  readDiscoveredTool,
  readDiscovery,
  readDump,
  toToolableCall,
} from './discovery.ts'
import type { ParsedStdout, ProbeSetback } from './refusals.ts'
import {
  explainAnswer,
  parseStdoutDocument,
  pickWeightiest,
  toNoSandboxSetback,
} from './refusals.ts'

/**
 * Asks a candidate what it is, by running it in a sandbox with a few questions. Never throws.
 * It changes nothing, and no process stays running.
 */
export async function probe(
  candidate: ProbeCandidate,
  options: ProbeOptions,
): Promise<ProbeVerdict> {
  const { path, command, readable = [] } = candidate
  const [program, ...args] = command
  const sandbox = await findSandbox(options.env)
  if (!sandbox.available && !options.unsandboxed)
    return pickWeightiest([toNoSandboxSetback(sandbox.problem)])
  const target: ProbeTarget = {
    candidate: { name: parse(path).name, ...candidate },
    options,
    gate: getSharedGate(options.concurrency),
    command: [await resolvePythonShim(program, options.env), ...args],
    readable: sandbox.available ? [...listProjectFolders(path), ...readable] : undefined,
  }
  if (sandbox.available) return runProbeSession(target)
  return withTemporaryFolder('toolable-probe-', (folder) => runProbeSession({ ...target, folder }))
}

const MAX_TOOLS = 1000
/** After this many questions that ran out of time or room, there is no hope for the next one. */
const MAX_TIMEOUTS = 2

type ProbeFindings = {
  simple?: boolean
  dump?: readonly DumpedTool[] | undefined
  several?: boolean
  discovered?: DiscoveredProgram | undefined
  help?: Omit<ProgramTool, 'name'>
}

/**
 * Asks one candidate all questions that may still bring something, and decides what it is: the
 * richest answer wins.
 */
async function runProbeSession(target: ProbeTarget): Promise<ProbeVerdict> {
  const { candidate, options } = target
  const found: ProbeFindings = {}
  const setbacks: ProbeSetback[] = []
  let fastest: { readonly question: ProbeQuestion; readonly duration: number } | undefined

  // `learn` gets the document of a success, and returns whether it understood the answer.
  const ask = async (
    question: ProbeQuestion,
    learn: (document: unknown, end: ChildEnd) => boolean,
  ): Promise<void> => {
    if (isSessionOver(setbacks)) return
    const end = await askProbeQuestion(target, question)
    const { duration } = end
    const output: ParsedStdout =
      end.reason === 'exited' ? parseStdoutDocument(end.stdout) : { kind: 'nothing' }
    const isDocument = end.status === 0 && output.kind === 'document'
    if (end.reason !== 'exited' || !learn(isDocument ? output.value : undefined, end))
      setbacks.push(explainAnswer(candidate, question, end, output))
    else if (!fastest || duration <= fastest.duration) fastest = { question, duration }
  }
  const askDiscover = (): Promise<void> =>
    ask(DISCOVER_QUESTION, (document) => {
      found.discovered = readDiscovery(document)
      return found.discovered !== undefined
    })
  const askDump = (question: ProbeQuestion): Promise<void> =>
    ask(question, (document) => {
      found.dump = readDump(document)
      const isList = question === MULTI_SCHEMA_QUESTION && isDumpList(document)
      found.several = isList || (found.dump?.length ?? 0) > 1
      return found.dump !== undefined
    })

  if (candidate.kind === 'executable') await askDiscover()
  if (!found.discovered) {
    await ask(SIMPLE_QUESTION, (document) => (found.simple = isObject(document)))
    await askDump(MULTI_SCHEMA_QUESTION)
    if (!found.dump) await askDump(SCHEMA_QUESTION)
  }
  if (candidate.kind === 'script') await askDiscover()
  if (found.discovered) found.discovered = await completeDiscovery(target, found.discovered)
  const isUnknown = !found.discovered && !found.dump && !found.simple
  const { readHelp } = options
  if (isUnknown && candidate.help && readHelp)
    await ask(HELP_QUESTION, (_document, { stdout, stderr }) => {
      const text = (stdout.length > 0 ? stdout : stderr).toString()
      const read = readHelp(text, candidate.name!)
      if (!read) return false
      const { facts, program } = read
      found.help = { facts, call: { form: 'program', command: candidate.command, program } }
      return true
    })
  // A cancelled session is incomplete, and its verdict would be remembered.
  if (!fastest || setbacks.some(({ reason }) => reason === 'cancelled'))
    return pickWeightiest(setbacks)
  let { duration } = fastest
  // Every program is slow beside others; the warning is for those that are slow alone.
  if (duration > WANTED_ANSWER_MS)
    duration = Math.min(duration, await measureAlone(target, fastest.question))
  return decideVerdict(target, found, duration)
}

function isSessionOver(setbacks: readonly ProbeSetback[]): boolean {
  const timeouts = setbacks.filter(
    ({ reason }) => reason === 'slow' || reason === 'too-much-output',
  )
  return timeouts.length >= MAX_TIMEOUTS || setbacks.some(({ isFinal }) => isFinal)
}

function decideVerdict(
  { candidate: { command, name = '' } }: ProbeTarget,
  found: ProbeFindings,
  duration: number,
): ProbeVerdict {
  const { tools, ...program } = describeFindings(found, command, name)
  const warnings: ProbeWarning[] = []
  if (duration > WANTED_ANSWER_MS)
    warnings.push({
      reason: 'slow',
      message: `It answered after ${Math.round(duration)} ms; ${WANTED_ANSWER_MS} ms are wanted`,
      fix: 'Look at the arguments first and answer, before heavy imports; or describe it in a YAML file beside it',
    })
  const withoutSchema = tools
    .filter(({ facts }) => found.discovered && facts.inputSchema === undefined)
    .map((tool) => tool.name)
  if (withoutSchema.length > 0)
    warnings.push({
      reason: 'no-schema',
      message: `It does not tell the input of ${withoutSchema.slice(0, 5).join(', ')}`,
      fix: `Let it answer: ${quoteCommandLine([...command, withoutSchema[0]!, '--manifest'])}`,
    })
  if (tools.length > MAX_TOOLS)
    warnings.push({
      reason: 'too-many',
      message: `It has ${tools.length} tools; the first ${MAX_TOOLS} are taken`,
      fix: 'Divide the program into several',
    })
  return {
    kind: 'tools',
    resources: [],
    prompts: [],
    ...program,
    tools: tools.slice(0, MAX_TOOLS),
    warnings,
  }
}

/** The tools of the richest answer, and how they were found. */
function describeFindings(
  { discovered, dump, several, simple, help }: ProbeFindings,
  command: ChildCall['command'],
  name: string,
): Pick<ProbedProgram, 'form' | 'tools'> & Partial<ProbedProgram> {
  if (discovered) {
    const { abilities, ...program } = discovered
    const tools = program.tools.map((tool) => ({
      ...tool,
      call: toToolableCall(command, tool, abilities),
    }))
    return { ...program, form: 'discover', tools }
  }
  const [single] = dump ?? []
  if (dump && (several || single?.call === 'function')) {
    const tools = dump.flatMap((tool): ProgramTool[] => {
      const { args, form } = getDumpedCall(tool)
      if (tool.name === undefined) return []
      const call = { form, command: [...command, ...args] as const }
      return [{ name: tool.name, facts: tool.facts, call }]
    })
    return { form: 'multi-schema', tools }
  }
  if (single) {
    const form = (single.call as CallForm | undefined) ?? (simple ? 'json' : 'flags')
    const call = { form, command }
    return { form: 'schema', tools: [{ name: single.name ?? name, facts: single.facts, call }] }
  }
  if (simple)
    return { form: 'simple', tools: [{ name, facts: {}, call: { form: 'json', command } }] }
  return { form: 'help', tools: help ? [{ name, ...help }] : [] }
}

/** Tools that are asked one by one; a program with more should answer for all together. */
const MAX_MANIFEST_REQUESTS = 50

/**
 * Adds the schemas that `--discover` leaves out: by one question where the program answers for all
 * its tools, otherwise by one for each tool.
 */
async function completeDiscovery(
  target: ProbeTarget,
  found: DiscoveredProgram,
): Promise<DiscoveredProgram> {
  if (found.tools.every(({ facts }) => facts.inputSchema !== undefined)) return found
  const whole = readDiscovery(await requestManifest(target))
  const known = new Map(whole?.tools.map((tool) => [tool.name, tool]))
  const tools: DiscoveredProgram['tools'][number][] = []
  let left = whole ? 0 : MAX_MANIFEST_REQUESTS
  for (const { name, facts } of found.tools) {
    let better = known.get(name)
    if (left > 0) {
      better = readDiscoveredTool(await requestManifest(target, name))
      // A tool without a schema does not stop the questions, but one without any answer does.
      left = better ? left - 1 : 0
    }
    tools.push({ name, facts: { ...facts, ...better?.facts } })
  }
  return { ...found, tools }
}

/** Asks for the schemas of all tools of a program, or of one tool. */
async function requestManifest(target: ProbeTarget, ...tool: readonly string[]): Promise<unknown> {
  const question = { args: [...tool, '--manifest'], timeoutMs: 5000 }
  const { reason, status, stdout } = await askProbeQuestion(target, question)
  if (reason !== 'exited' || status !== 0) return undefined
  const output = parseStdoutDocument(stdout)
  return output.kind === 'document' ? output.value : undefined
}

const PROJECT_MARKERS = ['.git', 'package.json', 'pyproject.toml']

/**
 * What a tool may see of the folders that the sandbox hides: its folder, and the project around it,
 * because tools import files beside them.
 */
function listProjectFolders(path: string): string[] {
  return [...new Set([path, resolveRealPath(path) ?? path])].flatMap((file) => {
    const folders = listAncestors(file)
    const projects = PROJECT_MARKERS.map((mark) =>
      folders.find((folder) => existsSync(join(folder, mark))),
    )
    return [folders[0], ...projects].filter((folder) => folder !== undefined)
  })
}

// Up to the home directory, which is no project.
function listAncestors(file: string): string[] {
  const stops = new Set(['/', '/home', '/root', '/tmp', '/var/tmp', homedir()])
  const folders: string[] = []
  let folder = dirname(file)
  while (!stops.has(folder) && dirname(folder) !== '/home') {
    folders.push(folder)
    folder = dirname(folder)
  }
  return folders
}

const resolvedShims = new Map<string, Promise<string>>()

/**
 * The real Python of a shim of pyenv, asdf and the like, which start several times as slowly; any
 * other program unchanged.
 */
export function resolvePythonShim(program: string, env: HostEnv): Promise<string> {
  const file = /^python[\d.]*$/.test(basename(program))
    ? findProgram(program, env['PATH'])
    : undefined
  if (file === undefined || basename(dirname(file)) !== 'shims') return Promise.resolve(program)
  const found = resolvedShims.get(file) ?? readPythonExecutable(file, program, env)
  resolvedShims.set(file, found)
  return found
}

async function readPythonExecutable(file: string, program: string, env: HostEnv): Promise<string> {
  const { status, stdout } = await runChild({
    command: [file, '-I', '-c', 'import sys; print(sys.executable)'],
    cwd: '/',
    env: { ...buildProbeEnv(env, '/'), ...compact({ HOME: env['HOME'] }) },
    timeout: 10_000,
  })
  const real = stdout.toString().trim()
  return status === 0 && findProgram(real, undefined) !== undefined ? real : program
}
