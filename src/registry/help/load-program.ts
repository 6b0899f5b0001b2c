import { look, sameStamp } from '../cache/stamp.ts'
import { ownVersion } from '../cache/own-version.ts'
import { readCache, writeCache } from '../cache/cache-file.ts'
import type { CachedFolder } from '../cache/cache-file.ts'
import { parse } from '../cache/line.ts'
import type { ChildServices } from '../child/services.ts'
import { childRunner } from '../child/child-runner.ts'
import { defineForeign } from '../foreign/define-foreign.ts'
import { summaryOf } from '../foreign/summary.ts'
import type { FoundTool, Loaded } from '../found.ts'
import type { LoadContext } from '../source.ts'
import { openAsking } from './ask-program.ts'
import { describeProgram } from './describe-program.ts'
import { toolsOfNode } from './program-tools.ts'
import type { ProgramTool } from './program-tools.ts'

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

const MOST_COMMANDS = 300
const LARGEST_CACHED = 64 * 1024 * 1024

/** The tools of a program by its help, from the cache where the file has not changed. */
export async function loadProgram(wanted: ProgramToLoad, context: LoadContext): Promise<Loaded> {
  const known = context.fresh ? undefined : recall(wanted, context)
  const tools = known ?? (await ask(wanted, context))
  if (tools.length === 0) {
    const location = [wanted.file, ...wanted.args].join(' ')
    return { tools: [], problems: [{ source: wanted.source, location, reason: 'no-help', message: `${location} prints no help that says how it is called`, fix: `Look at what it prints: ${location} --help`, severity: 'error' }] }
  }
  if (!known) remember(wanted, context, tools)
  return { tools: tools.map((tool) => foundTool(wanted, tool)) }
}

async function ask({ source, file, args, given, depth, only }: ProgramToLoad, { env, probe, signal }: LoadContext): Promise<ProgramTool[]> {
  const run = await openAsking({ command: [file, ...args], env, given, unsandboxed: probe.unsandboxed, signal })
  const root = await describeProgram(run, { depth, most: MOST_COMMANDS, ...(only && { only }) })
  return root ? toolsOfNode(root, source) : []
}

function foundTool({ source, file, args, given, services }: ProgramToLoad, { name, path, facts, program }: ProgramTool): FoundTool {
  return {
    source,
    name,
    tier: 'executable',
    kind: 'program by its help',
    location: file,
    summary: summaryOf(name, facts),
    tags: [],
    define: (wanted) => defineForeign(wanted, facts, childRunner({ form: 'program', command: [file, ...args, ...path], program, ...(Object.keys(given).length > 0 && { env: given }) }, services)),
  }
}

/** The cache has a line for each program, bound to the file and to what was asked of it. */
function cachedAs({ file, args, depth, only }: ProgramToLoad, ino: number): CachedFolder {
  return { path: JSON.stringify([file, args, depth, only ?? null]), id: ino, version: ownVersion() }
}

function recall(wanted: ProgramToLoad, { cacheFolder }: LoadContext): ProgramTool[] | undefined {
  const seen = look(wanted.file)
  if (cacheFolder === undefined || !seen) return undefined
  const record = readCache(cacheFolder, cachedAs(wanted, seen.stamp.ino)).get(wanted.file)
  if (!record || !sameStamp(record.stamp, seen.stamp)) return undefined
  const tools = parse(record.body)
  return Array.isArray(tools) ? (tools as ProgramTool[]) : undefined
}

function remember(wanted: ProgramToLoad, { cacheFolder }: LoadContext, tools: readonly ProgramTool[]): void {
  const seen = look(wanted.file)
  const body = JSON.stringify(tools)
  if (cacheFolder === undefined || !seen || body.length > LARGEST_CACHED) return
  writeCache(cacheFolder, cachedAs(wanted, seen.stamp.ino), [{ path: wanted.file, stamp: seen.stamp, hash: '', outline: {}, body }])
}
