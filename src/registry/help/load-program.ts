import { look, sameStamp } from '../cache/stamp.ts'
import { ownVersion } from '../../call/own-version.ts'
import { readCache, writeCache } from '../cache/cache-file.ts'
import type { CachedFolder } from '../cache/cache-file.ts'
import { parse } from '../cache/line.ts'
import { childRunner } from '../child/child-runner.ts'
import type { ChildCall } from '../child/child-call.ts'
import type { ChildServices } from '../child/services.ts'
import { defineForeign } from '../foreign/define-foreign.ts'
import { summaryOf } from '../foreign/summary.ts'
import type { ForeignFacts, FoundTool, Loaded } from '../found.ts'
import { probe } from '../probe/probe.ts'
import type { LoadContext } from '../source.ts'
import { openAsking } from './ask-program.ts'
import { describeProgram } from './describe-program.ts'
import { toolsOfNode } from './program-tools.ts'

/** A program that was found, and what of it is wanted. */
export type ProgramToLoad = {
  readonly source: string
  readonly file: string
  readonly args: readonly string[]
  readonly given: { readonly [name: string]: string }
  readonly depth: number
  readonly only: readonly string[] | undefined
  readonly services: ChildServices
}

/** What was found out about a program. Plain data: the cache keeps it. */
type Known = {
  readonly kind: string
  readonly version?: string
  readonly tools: readonly {
    readonly name: string
    readonly facts: ForeignFacts
    readonly call: ChildCall
  }[]
}

const MOST_COMMANDS = 300
const LARGEST_CACHED = 64 * 1024 * 1024

/** The tools of a program, by `--discover` or by its help; from the cache where the file has not changed. */
export async function loadProgram(wanted: ProgramToLoad, context: LoadContext): Promise<Loaded> {
  const remembered = context.fresh ? undefined : recall(wanted, context)
  const known =
    remembered ?? (await askWhatItIs(wanted, context)) ?? (await askForHelp(wanted, context))
  if (known.tools.length === 0) {
    const location = [wanted.file, ...wanted.args].join(' ')
    return {
      tools: [],
      problems: [
        {
          source: wanted.source,
          location,
          reason: 'no-help',
          message: `${location} prints no help that says how it is called`,
          fix: `Look at what it prints: ${location} --help`,
          severity: 'error',
        },
      ],
    }
  }
  if (!remembered) remember(wanted, context, known)
  return { tools: known.tools.map((tool) => foundTool(wanted, known, tool)) }
}

async function askWhatItIs(
  { source, file, args }: ProgramToLoad,
  { env, probe: settings, signal }: LoadContext,
): Promise<Known | undefined> {
  const verdict = await probe(
    { path: file, command: [file, ...args], kind: 'executable', name: source },
    { ...settings, env, signal },
  )
  if (verdict.kind !== 'tools' || verdict.form === 'help') return undefined
  return {
    kind: 'toolable executable',
    tools: verdict.tools,
    ...(verdict.version !== undefined && { version: verdict.version }),
  }
}

async function askForHelp(
  { source, file, args, given, depth, only }: ProgramToLoad,
  { env, probe: settings, signal }: LoadContext,
): Promise<Known> {
  const run = await openAsking({
    command: [file, ...args],
    env,
    given,
    unsandboxed: settings.unsandboxed,
    signal,
  })
  const root = await describeProgram(run, { depth, most: MOST_COMMANDS, ...(only && { only }) })
  const tools = root ? toolsOfNode(root, source) : []
  return {
    kind: 'program by its help',
    tools: tools.map(({ name, path, facts, program }) => ({
      name,
      facts,
      call: { form: 'program', command: [file, ...args, ...path], program },
    })),
  }
}

function foundTool(
  { source, file, given, services }: ProgramToLoad,
  { kind, version }: Known,
  { name, facts, call }: Known['tools'][number],
): FoundTool {
  const whole = Object.keys(given).length > 0 ? { ...call, env: { ...call.env, ...given } } : call
  return {
    source,
    name,
    kind,
    tier: 'executable',
    location: file,
    summary: summaryOf(name, facts),
    tags: facts.tags ?? [],
    ...(version !== undefined && { version }),
    define: (wanted) => defineForeign(wanted, facts, childRunner(whole, services)),
    program: async () => ({
      call: whole,
      ...(facts.permissions && { permissions: facts.permissions, manifest: file }),
    }),
  }
}

/** The cache has a line for each program, bound to the file and to what was asked of it. */
function cachedAs(
  { file, args, depth, only }: ProgramToLoad,
  ino: CachedFolder['id'],
): CachedFolder {
  return { path: JSON.stringify([file, args, depth, only ?? null]), id: ino, version: ownVersion() }
}

function recall(wanted: ProgramToLoad, { cacheFolder }: LoadContext): Known | undefined {
  const seen = look(wanted.file)
  if (cacheFolder === undefined || !seen) return undefined
  const record = readCache(cacheFolder, cachedAs(wanted, seen.stamp.ino)).get(wanted.file)
  return record && sameStamp(record.stamp, seen.stamp)
    ? (parse(record.body) as Known | undefined)
    : undefined
}

function remember(wanted: ProgramToLoad, { cacheFolder }: LoadContext, known: Known): void {
  const seen = look(wanted.file)
  const body = JSON.stringify(known)
  if (cacheFolder === undefined || !seen || body.length > LARGEST_CACHED) return
  writeCache(cacheFolder, cachedAs(wanted, seen.stamp.ino), [
    { path: wanted.file, stamp: seen.stamp, hash: '', outline: {}, body },
  ])
}
