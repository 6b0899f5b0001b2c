/**
 * Asks a program what it is, by running it in a sandbox with a few questions. The richest answer wins.
 */

import { existsSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, extname, join } from 'node:path'
import type { ChildEnd } from '../../process/child.ts'
import type { HostEnv } from '../../process/environment.ts'
import { buildProbeEnv } from '../../process/environment.ts'
import { findProgram } from '../../process/programs.ts'
import { runChild } from '../../process/run.ts'
import { findSandbox } from '../../sandbox/probe-sandbox.ts'
import { quoteCommandLine } from '../../util/text.ts'
import { compact, isObject } from '../../util/values.ts'
import type { ChildCall } from '../child/child-call.ts'
import type { ForeignMetadata } from '../source.ts'
import type {
  ProbeCandidate,
  ProbeForm,
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
  toManifestQuestion,
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
 * Nothing is changed by it and nothing stays running.
 */
export async function probe(
  candidate: ProbeCandidate,
  options: ProbeOptions,
): Promise<ProbeVerdict> {
  const {
    path,
    command: [program, ...args],
  } = candidate
  const sandbox = await findSandbox(options.env)
  if (!sandbox.available && !options.unsandboxed)
    return pickWeightiest([toNoSandboxSetback(sandbox.problem)])
  const booth: ProbeTarget = {
    candidate: { name: basename(path, extname(path)), ...candidate },
    options,
    gate: getSharedGate(options.concurrency),
    command: [await resolvePythonShim(program, options.env), ...args],
    readable: sandbox.available
      ? [...listProjectFolders(path), ...(candidate.readable ?? [])]
      : undefined,
    folder: undefined,
  }
  return sandbox.available
    ? runProbeSession(booth)
    : withEmptyFolder((folder) => runProbeSession({ ...booth, folder }))
}

async function withEmptyFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const { mkdtemp, rm } = await import('node:fs/promises')
  const { tmpdir } = await import('node:os')
  const folder = await mkdtemp(`${tmpdir()}/toolable-probe-`)
  try {
    return await use(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const MAX_TOOLS = 1000
/** So many questions that ran out of time or room, and there is no hope for the next one. */
const MAX_TIMEOUTS = 2

type ProbeFindings = {
  simple?: true
  dump?: readonly DumpedTool[]
  several?: boolean
  discovered?: DiscoveredProgram
  help?: { readonly facts: ForeignMetadata; readonly call: ChildCall }
}

/**
 * Asks one candidate all questions that may still teach something, and decides what it is: the
 * richest answer wins.
 */
async function runProbeSession(booth: ProbeTarget): Promise<ProbeVerdict> {
  const { candidate, options } = booth
  const learnt: ProbeFindings = {}
  const setbacks: ProbeSetback[] = []
  let fastest: { readonly question: ProbeQuestion; readonly duration: number } | undefined

  const put = async (
    question: ProbeQuestion,
    learn: (read: ParsedStdout, end: ChildEnd) => boolean,
  ): Promise<void> => {
    if (isSessionOver(setbacks)) return
    const end = await askProbeQuestion(booth, question)
    const read =
      end.reason === 'exited' ? parseStdoutDocument(end.stdout) : ({ kind: 'nothing' } as const)
    if (end.reason === 'exited' && learn(read, end))
      fastest =
        fastest && fastest.duration < end.duration ? fastest : { question, duration: end.duration }
    else setbacks.push(explainAnswer(candidate, question, end, read))
  }
  const askDiscover = (): Promise<void> =>
    put(DISCOVER_QUESTION, (read, { status }) => {
      const found = status === 0 && read.kind === 'document' ? readDiscovery(read.value) : undefined
      if (found) learnt.discovered = found
      return found !== undefined
    })
  const askSimple = (): Promise<void> =>
    put(SIMPLE_QUESTION, (read, { status }) => {
      if (status === 0 && read.kind === 'document' && isObject(read.value)) learnt.simple = true
      return learnt.simple === true
    })
  const askDump = (question: ProbeQuestion): Promise<void> =>
    put(question, (read, { status }) => {
      const dump = status === 0 && read.kind === 'document' ? readDump(read.value) : undefined
      if (dump)
        Object.assign(learnt, {
          dump,
          several:
            dump.length > 1 ||
            (question === MULTI_SCHEMA_QUESTION &&
              read.kind === 'document' &&
              isDumpList(read.value)),
        })
      return dump !== undefined
    })

  if (candidate.kind === 'executable') await askDiscover()
  if (!learnt.discovered) await askSimple()
  if (!learnt.discovered) await askDump(MULTI_SCHEMA_QUESTION)
  if (!learnt.discovered && !learnt.dump) await askDump(SCHEMA_QUESTION)
  if (candidate.kind === 'script') await askDiscover()
  if (learnt.discovered) learnt.discovered = await completeDiscovery(booth, learnt.discovered)
  const isUnknown = !learnt.discovered && !learnt.dump && !learnt.simple
  if (isUnknown && candidate.help && options.readHelp) {
    await put(HELP_QUESTION, (_read, { stdout, stderr }) => {
      const understood = options.readHelp!(
        (stdout.length > 0 ? stdout : stderr).toString(),
        candidate.name!,
      )
      if (understood)
        learnt.help = {
          facts: understood.facts,
          call: { form: 'program', command: candidate.command, program: understood.program },
        }
      return understood !== undefined
    })
  }
  // Half an interview is none: it would be remembered.
  if (!fastest || setbacks.some(({ reason }) => reason === 'cancelled'))
    return pickWeightiest(setbacks)
  // In company everybody is slow; the warning is for those that are slow alone.
  const duration =
    fastest.duration <= WANTED_ANSWER_MS
      ? fastest.duration
      : Math.min(fastest.duration, await measureAlone(booth, fastest.question))
  return decideVerdict(booth, learnt, duration)
}

function isSessionOver(setbacks: readonly ProbeSetback[]): boolean {
  return (
    setbacks.some(({ isFinal: hopeless }) => hopeless) ||
    setbacks.filter(({ reason }) => reason === 'slow' || reason === 'too-much-output').length >=
      MAX_TIMEOUTS
  )
}

function decideVerdict(
  { candidate: { command, name = '' } }: ProbeTarget,
  { discovered, dump, several, simple, help }: ProbeFindings,
  duration: number,
): ProbeVerdict {
  const slow: ProbeWarning[] =
    duration <= WANTED_ANSWER_MS
      ? []
      : [
          {
            reason: 'slow',
            message: `It answered after ${Math.round(duration)} ms; ${WANTED_ANSWER_MS} ms are wanted`,
            fix: 'Look at the arguments first and answer, before heavy imports; or describe it in a YAML file beside it',
          },
        ]
  const give = (
    form: ProbeForm,
    tools: readonly ProgramTool[],
    rest: Partial<
      Pick<
        Extract<ProbeVerdict, { kind: 'tools' }>,
        'program' | 'version' | 'resources' | 'prompts'
      >
    > = {},
    warnings: readonly ProbeWarning[] = [],
  ): ProbeVerdict => ({
    kind: 'tools',
    form,
    tools: tools.slice(0, MAX_TOOLS),
    resources: [],
    prompts: [],
    ...rest,
    warnings: [
      ...slow,
      ...warnings,
      ...(tools.length > MAX_TOOLS
        ? [
            {
              reason: 'too-many' as const,
              message: `It has ${tools.length} tools; the first ${MAX_TOOLS} are taken`,
              fix: 'Divide the program into several',
            },
          ]
        : []),
    ],
  })

  if (discovered) {
    const { tools, program, version, resources, prompts, abilities } = discovered
    const blind = tools
      .filter(({ facts }) => facts.inputSchema === undefined)
      .map((tool) => tool.name)
    return give(
      'discover',
      tools.map((tool) => ({ ...tool, call: toToolableCall(command, tool, abilities) })),
      compact({ program, version, resources, prompts }),
      blind.length === 0
        ? []
        : [
            {
              reason: 'no-schema',
              message: `It does not tell the input of ${blind.slice(0, 5).join(', ')}`,
              fix: `Let it answer: ${quoteCommandLine([...command, blind[0]!, '--manifest'])}`,
            },
          ],
    )
  }
  if (dump && (several || dump[0]!.call === 'function')) {
    return give(
      'multi-schema',
      dump.flatMap((tool) => {
        const { args, form } = getDumpedCall(tool)
        return tool.name === undefined
          ? []
          : [
              {
                name: tool.name,
                facts: tool.facts,
                call: { form, command: [...command, ...args] as const },
              },
            ]
      }),
    )
  }
  if (dump) {
    const [{ facts, call, name: own }] = dump as [DumpedTool]
    const form =
      call === 'json' || call === 'stdin' || call === 'flags' ? call : simple ? 'json' : 'flags'
    return give('schema', [{ name: own ?? name, facts, call: { form, command } }])
  }
  if (simple) return give('simple', [{ name, facts: {}, call: { form: 'json', command } }])
  return give('help', help ? [{ name, ...help }] : [])
}

/**
 * Tools that are asked one by one for their schema; a program with more should answer for all at
 * once.
 */
const MAX_MANIFEST_REQUESTS = 50

/**
 * Adds the schemas that `--discover` leaves out: by one question where the program answers for all
 * its tools, by one for each tool otherwise.
 */
async function completeDiscovery(
  booth: ProbeTarget,
  found: DiscoveredProgram,
): Promise<DiscoveredProgram> {
  if (found.tools.every(({ facts }) => facts.inputSchema !== undefined)) return found
  const whole = readDiscovery(await requestManifest(booth))
  const known = new Map(whole?.tools.map((tool) => [tool.name, tool]))
  const tools: DiscoveredProgram['tools'][number][] = []
  let left = MAX_MANIFEST_REQUESTS
  for (const tool of found.tools) {
    const better =
      known.get(tool.name) ??
      (whole === undefined && left-- > 0
        ? readDiscoveredTool(await requestManifest(booth, tool.name))
        : undefined)
    // Nobody gives up asking at the first tool that does not know its schema, but one that says
    // nothing at all is the last.
    if (whole === undefined && better === undefined) left = 0
    tools.push({ name: tool.name, facts: { ...tool.facts, ...better?.facts } })
  }
  return { ...found, tools }
}

async function requestManifest(booth: ProbeTarget, ...tool: readonly string[]): Promise<unknown> {
  const end = await askProbeQuestion(booth, toManifestQuestion(...tool))
  const read =
    end.reason === 'exited' && end.status === 0 ? parseStdoutDocument(end.stdout) : undefined
  return read?.kind === 'document' ? read.value : undefined
}

const PROJECT_MARKERS = ['.git', 'package.json', 'pyproject.toml']

/**
 * What a tool needs to see of the places that the sandbox hides: its folder, and the project around
 * it, because tools import what lies beside them.
 */
function listProjectFolders(path: string): string[] {
  return [...new Set([path, realPathOrSelf(path)])].flatMap((file) => {
    const folders = listAncestors(file)
    const projects = PROJECT_MARKERS.map((mark) =>
      folders.find((folder) => existsSync(join(folder, mark))),
    )
    return [folders[0], ...projects].filter((folder): folder is string => folder !== undefined)
  })
}

// Up to the home directory, which is nobody's project.
function listAncestors(file: string): string[] {
  const stops = new Set(['/', '/home', '/root', '/tmp', '/var/tmp', homedir()])
  const folders: string[] = []
  for (
    let folder = dirname(file);
    !stops.has(folder) && dirname(folder) !== '/home';
    folder = dirname(folder)
  )
    folders.push(folder)
  return folders
}

function realPathOrSelf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

const resolvedShims = new Map<string, Promise<string>>()

/**
 * The Python behind a shim of pyenv, asdf and the like, which would be several times as slow to
 * start; any other program as it is.
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
