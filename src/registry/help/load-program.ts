/**
 * Tools of an ordinary program: by `--discover` where it answers, else one for each command its help names.
 */

import { getPackageVersion } from '../../core/cache.ts'
import { MEBIBYTE } from '../../util/units.ts'
import { compact, tryParseJson } from '../../util/values.ts'
import type { CacheSubject } from '../cache.ts'
import { isSameStamp, readCache, statFile, writeCache } from '../cache.ts'
import type { ChildServices } from '../child/child-call.ts'
import { createChildRunner } from '../child/runner.ts'
import { defineForeign } from '../foreign/define-foreign.ts'
import { toSummary } from '../names.ts'
import type { ProgramTool } from '../probe/ask.ts'
import { probe } from '../probe/probe.ts'
import type { FoundTool, LoadContext, LoadedSource } from '../source.ts'
import type { ProgramMetadata } from './read-help.ts'
import { toProgramMetadata } from './read-help.ts'
import type { ProgramNode } from './run-help.ts'
import { createHelpRunner, describeProgram } from './run-help.ts'

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
type ProgramRecord = {
  readonly kind: string
  readonly version?: string
  readonly tools: readonly ProgramTool[]
}

const MAX_COMMANDS = 300
const MAX_CACHED_LENGTH = 64 * MEBIBYTE

/**
 * The tools of a program, by `--discover` or by its help; from the cache where the file has not
 * changed.
 */
export async function loadProgram(
  wanted: ProgramToLoad,
  context: LoadContext,
): Promise<LoadedSource> {
  const remembered = context.fresh ? undefined : readProgramRecord(wanted, context)
  const known =
    remembered ?? (await probeProgram(wanted, context)) ?? (await readHelpTools(wanted, context))
  if (known.tools.length === 0) {
    const { source, file, args } = wanted
    const location = [file, ...args].join(' ')
    const message = `${location} prints no help that says how it is called`
    const fix = `Look at what it prints: ${location} --help`
    const problem = {
      source,
      location,
      reason: 'no-help',
      message,
      fix,
      severity: 'error',
    } as const
    return { tools: [], problems: [problem] }
  }
  if (!remembered) writeProgramRecord(wanted, context, known)
  return { tools: known.tools.map((tool) => toFoundTool(wanted, known, tool)) }
}

async function probeProgram(
  { source, file, args }: ProgramToLoad,
  { env, probe: settings, signal }: LoadContext,
): Promise<ProgramRecord | undefined> {
  const verdict = await probe(
    { path: file, command: [file, ...args], kind: 'executable', name: source },
    { ...settings, env, signal },
  )
  if (verdict.kind !== 'tools' || verdict.form === 'help') return undefined
  return compact({ kind: 'toolable executable', tools: verdict.tools, version: verdict.version })
}

async function readHelpTools(
  { source, file, args, given, depth, only }: ProgramToLoad,
  { env, probe: settings, signal }: LoadContext,
): Promise<ProgramRecord> {
  const run = await createHelpRunner({
    command: [file, ...args],
    env,
    given,
    unsandboxed: settings.unsandboxed,
    signal,
  })
  const root = await describeProgram(run, compact({ depth, most: MAX_COMMANDS, only }))
  const tools = root ? toHelpTools(root, source) : []
  return {
    kind: 'program by its help',
    tools: tools.map(({ name, path, facts, program }) => ({
      name,
      facts,
      call: { form: 'program', command: [file, ...args, ...path], program },
    })),
  }
}

function toFoundTool(
  { source, file, given, services }: ProgramToLoad,
  { kind, version }: ProgramRecord,
  { name, facts, call }: ProgramTool,
): FoundTool {
  const whole = Object.keys(given).length > 0 ? { ...call, env: { ...call.env, ...given } } : call
  return {
    source,
    name,
    kind,
    tier: 'executable',
    location: file,
    summary: toSummary(name, facts),
    tags: facts.tags ?? [],
    ...compact({ version }),
    define: (wanted) => defineForeign(wanted, facts, createChildRunner(whole, services)),
    program: async () => {
      const { permissions } = facts
      return permissions ? { call: whole, permissions, manifest: file } : { call: whole }
    },
  }
}

/** The cache has a line for each program, bound to the file and to what was asked of it. */
function toCacheSubject(
  { file, args, depth, only }: ProgramToLoad,
  ino: CacheSubject['id'],
): CacheSubject {
  return {
    path: JSON.stringify([file, args, depth, only ?? null]),
    id: ino,
    version: getPackageVersion(),
  }
}

function readProgramRecord(
  wanted: ProgramToLoad,
  { cacheFolder }: LoadContext,
): ProgramRecord | undefined {
  const seen = statFile(wanted.file)
  if (cacheFolder === undefined || !seen) return undefined
  const record = readCache(cacheFolder, toCacheSubject(wanted, seen.stamp.ino)).get(wanted.file)
  return record && isSameStamp(record.stamp, seen.stamp)
    ? (tryParseJson(record.body) as ProgramRecord | undefined)
    : undefined
}

function writeProgramRecord(
  wanted: ProgramToLoad,
  { cacheFolder }: LoadContext,
  known: ProgramRecord,
): void {
  const seen = statFile(wanted.file)
  const body = JSON.stringify(known)
  if (cacheFolder === undefined || !seen || body.length > MAX_CACHED_LENGTH) return
  writeCache(cacheFolder, toCacheSubject(wanted, seen.stamp.ino), [
    { path: wanted.file, stamp: seen.stamp, hash: '', outline: {}, body },
  ])
}

/** One command of a program as a tool. Plain data: the cache keeps it. */
type HelpTool = ProgramMetadata & { readonly name: string; readonly path: readonly string[] }

/**
 * A tool for each command; for the program itself where it has none. What only leads to commands is
 * no tool.
 */
function toHelpTools(node: ProgramNode, program: string): HelpTool[] {
  const below = node.children.flatMap((child) => toHelpTools(child, program))
  const name =
    node.path.length === 0 ? program : node.path.join('_').replace(/[^\p{L}\d_-]+/gu, '_')
  if (leadsToCommands(node)) return below
  const { facts, program: form } = toProgramMetadata(node.help, name)
  const told =
    facts.summary === name && node.summary !== '' ? { ...facts, summary: node.summary } : facts
  return [{ name, path: node.path, facts: told, program: form }, ...below]
}

function leadsToCommands({ path, children, help: { document } }: ProgramNode): boolean {
  if (children.length === 0) return false
  return (
    path.length === 0 || /<?\b(?:sub)?commands?\b>?|\{[^}]*,[^}]*\} \.\.\./i.test(document.usage)
  )
}
